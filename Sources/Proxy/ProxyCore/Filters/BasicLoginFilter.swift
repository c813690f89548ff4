import Authorization
import HTTPCodec
import Interception

/// Sends a user name and password to an origin (RFC 7617): with each request, or once an exchange when the origin asks.
final class BasicLoginFilter: Filter {
    private let login: BasicLogin
    private let interceptor: String
    private let hosts: HostGuard
    private var isAsked = false

    /// A larger response, in bytes, goes to the client even if it is a challenge.
    private static let largestChallenge = 64 << 10

    init(_ login: BasicLogin, interceptor: String, hosts: HostGuard) {
        self.login = login
        self.interceptor = interceptor
        self.hosts = hosts
    }

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        if case .leaving = step { show(in: &head, &context) }
        return .proceed
    }

    private func show(in head: inout RequestHead, _ context: inout FilterContext) {
        switch login.sending {
        case .always: break
        case .missing: if head.fields.contains(.authorization) { return }
        case .challenged: if !isAsked { return }
        }
        if let reason = hosts.admits(head) ? context.obstacle(login.origins) : BasicLoginFilter.elsewhere {
            context.note(.login(interceptor: interceptor, reason))
            return
        }
        head.fields.set("Authorization", login.credentials)
    }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .offered where isChallenge(head, context): .hold(upTo: Self.largestChallenge)
        case .whole(let response) where isChallenge(response.head, context): consider(response, &context)
        case .head, .offered, .whole, .tooLarge: .proceed
        }
    }

    /// The response is a Basic challenge, and the request has not carried the credentials yet.
    private func isChallenge(_ response: ResponseHead, _ context: FilterContext) -> Bool {
        login.sending == .challenged && !isAsked && hosts.admits(context.sent) && response.status == 401
            && response.fields.challenges(scheme: "Basic")
    }

    private func consider(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        if let reason = context.obstacle(login.origins) {
            context.note(.login(interceptor: interceptor, reason))
            return .proceed
        }
        guard context.isWhole else {
            context.note(
                .login(
                    interceptor: interceptor, "the request's body was not kept, so it is not sent again with a password"
                ))
            return .proceed
        }
        isAsked = true
        context.note(
            .login(interceptor: interceptor, "the origin asks for a password (Basic); the request is sent with it"))
        return .again(response)
    }

    static let elsewhere =
        "the request goes to no host, scheme and port that \"when\" names (https and 443 where it names none), or is a TRACE, so "
        + "it goes out without"
}
