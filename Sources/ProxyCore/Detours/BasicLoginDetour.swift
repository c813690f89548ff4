import Authorization
import HTTPCodec
import Interception

/// Shows a name and a password to an origin (RFC 7617): with each request, or once in an exchange where it asks for them.
final class BasicLoginDetour: PassiveDetour {
    private let login: BasicLogin
    private let interceptor: String
    private let hosts: HostGuard
    private var isAsked = false

    /// More of an answer than this is delivered, whatever it asks for.
    private static let largestChallenge = 64 << 10

    init(_ login: BasicLogin, interceptor: String, hosts: HostGuard) {
        self.login = login
        self.interceptor = interceptor
        self.hosts = hosts
    }

    var maxResponseBytes: Int { Self.largestChallenge }

    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        switch login.sending {
        case .always: break
        case .missing: if head.fields.contains(.authorization) { return }
        case .challenged: if !isAsked { return }
        }
        if let reason = hosts.admits(head) ? context.obstacle(login.origins) : BasicLoginDetour.elsewhere {
            notes.append(.login(interceptor: interceptor, reason))
            return
        }
        head.fields.set("Authorization", login.credentials)
    }

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        login.sending == .challenged && !isAsked && hosts.admits(sent) && Self.asks(response)
            ? Self.largestChallenge : nil
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        guard login.sending == .challenged, !isAsked, hosts.admits(context.sent),
            Self.asks(response.head)
        else {
            return .deliver(response)
        }
        if let reason = context.obstacle(login.origins) {
            notes.append(.login(interceptor: interceptor, reason))
            return .deliver(response)
        }
        guard context.isWhole else {
            notes.append(
                .login(
                    interceptor: interceptor, "the request's body was not kept, so it is not sent again with a password"
                ))
            return .deliver(response)
        }
        isAsked = true
        notes.append(
            .login(interceptor: interceptor, "the origin asks for a password (Basic); the request is sent with it"))
        return .again(response)
    }

    static let elsewhere =
        "the request goes to no host, scheme and port that \"when\" names (https and 443 where it names none), or is a TRACE, so "
        + "it goes out without"

    private static func asks(_ response: ResponseHead) -> Bool {
        response.status == 401 && response.fields.challenges(scheme: "Basic")
    }
}
