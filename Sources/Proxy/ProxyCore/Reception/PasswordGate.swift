import Addresses
import HTTPCodec
import Interception
import Passwords

/// `clients.basic`: decides about a request by its password (RFC 9110 §11.7, RFC 7617). The driver checks the
/// password.
enum PasswordGate {
    /// The longest time for a check, in milliseconds, when many wait.
    static let longestCheck = 10_000

    private static let wrong = "the user name or the password is wrong"

    /// The password check that a request needs.
    /// - Throws: the challenge to send to the client.
    static func check(
        _ request: RequestHead, _ users: PasswordTable?, flow: UInt64, client: IPAddress?
    ) throws(ProxyError) -> PasswordCheck {
        guard let users, let credentials = BasicCredentials(request) else {
            let lacks = !request.fields.contains(.proxyAuthorization)
            throw challenge(
                lacks
                    ? "this proxy asks for a user name and a password: write them into its URL, http://USER:PASSWORD@HOST:PORT"
                    : "Proxy-Authorization has to hold one user name and password in the scheme Basic")
        }
        guard let hash = users.hash(of: credentials.user) else { throw challenge(wrong) }
        return PasswordCheck(
            flow: flow, user: credentials.user, password: credentials.password, hash: hash.text, isDecoy: hash.isDecoy,
            client: client)
    }

    /// The error for the verdict; nil when the password is right.
    static func refusal(_ verdict: PasswordVerdict) -> ProxyError? {
        switch verdict {
        case .right: nil
        case .wrong: challenge(wrong)
        case .tooMany(let wait):
            later(429, "too many wrong passwords came from this network, or for this user", wait: wait)
        case .busy: later(503, "too many passwords wait to be checked", wait: 1_000)
        }
    }

    /// Accepts the user of the request, whose password is right.
    /// - Returns: the error when the user has too many requests under way.
    static func accept(
        _ info: inout ExchangeInfo, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) -> ProxyError? {
        context.user = BasicCredentials(info.received.head)?.user
        info.log.record.user = context.user
        guard let user = context.user else { return nil }
        if let share = context.share, !share.becomes(.user(user), info.engine.settings.limits) {
            return .tooManyOfClient("the user \(user)")
        }
        if context.binding.passes(to: user) { out.commands.append(.unbind) }
        return nil
    }

    static let late = later(503, "the password could not be checked in time", wait: 1_000)

    /// Asks for a user and a password (RFC 7617 §2).
    static let challengeField = ProxyError.Field("Proxy-Authenticate", #"Basic realm="usher", charset="UTF-8""#)

    private static func challenge(_ details: String) -> ProxyError {
        var error = ProxyError("http_request_denied", status: 407, details)
        error.fields = [challengeField]
        return error
    }

    private static func later(_ status: Int, _ details: String, wait: Int) -> ProxyError {
        var error = ProxyError("http_request_denied", status: status, "\(details); try again later")
        error.fields = [.init("Retry-After", "\(max(1, (wait + 999) / 1000))")]
        return error
    }
}

extension ExchangeInfo {
    /// Logs the name of the user whose password is refused.
    mutating func logUser(refusedBy error: ProxyError, _ now: Int) {
        guard error.status == 407, let name = BasicCredentials(received.head)?.user else { return }
        log.tell(.unauthenticated(user: String(name.prefix(64))), now)
    }
}
