import HTTPCodec
import Interception
import Passwords

/// `clients.basic`: who asks has to say who it is (RFC 9110 §11.7, RFC 7617).
extension Exchange {
    /// How long a check may take, in milliseconds, when many wait.
    private static let longestCheck = 10_000
    private static let wrongPassword = "the user name or the password is wrong"

    /// Sends the password to be checked, or asks for one.
    mutating func authenticate(_ context: inout ClientContext, _ out: inout Outbox) {
        context.user = nil
        guard let users = engine.settings.users, let credentials = BasicCredentials(request) else {
            let lacks = !request.fields.contains(.proxyAuthorization)
            return challenge(
                lacks
                    ? "this proxy asks for a user name and a password: write them into its URL, http://USER:PASSWORD@HOST:PORT"
                    : "Proxy-Authorization has to hold one user name and password in the scheme Basic", &out)
        }
        guard let hash = users.hash(of: credentials.user) else { return challenge(Self.wrongPassword, &out) }
        enter(.authenticating, until: out.now + Self.longestCheck)
        out.orders.append(
            .authenticate(
                id,
                PasswordCheck(
                    flow: record.flow, user: credentials.user, password: credentials.password, hash: hash.text,
                    isDecoy: hash.isDecoy, client: context.source.address)))
    }

    /// The password was checked. An answer that comes too late finds another stage.
    mutating func authenticated(
        _ verdict: PasswordVerdict, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        guard case .authenticating = stage else { return }
        switch verdict {
        case .right: accept(&context, &out)
        case .wrong: challenge(Self.wrongPassword, &out)
        case .tooMany(let wait):
            refuseCheck(429, "too many wrong passwords came from this network, or for this user", wait: wait, &out)
        case .busy: refuseCheck(503, "too many passwords wait to be checked", wait: 1_000, &out)
        }
    }

    private mutating func accept(_ context: inout ClientContext, _ out: inout Outbox) {
        context.user = BasicCredentials(request)?.user
        record.user = context.user
        if let user = context.user {
            if let share = context.share, !share.becomes(.user(user), engine.settings.limits) {
                return answer(.tooManyOfClient("the user \(user)"), isLast: true, &out)
            }
            if context.binding.passes(to: user) { out.orders.append(.unbind) }
        }
        do {
            try admitted(&context, &out)
        } catch {
            refuse(error, &out)
        }
    }

    mutating func authenticationTimedOut(_ out: inout Outbox) {
        refuseCheck(503, "the password could not be checked in time", wait: 1_000, &out)
    }

    private mutating func challenge(_ details: String, _ out: inout Outbox) {
        var error = ProxyError("http_request_denied", status: 407, details)
        error.fields = [.init("Proxy-Authenticate", #"Basic realm="usher", charset="UTF-8""#)]
        if let name = BasicCredentials(request)?.user {
            tell(.unauthenticated(user: String(name.prefix(64))), out.now)
        }
        answer(error, &out)
    }

    private mutating func refuseCheck(_ status: Int, _ details: String, wait: Int, _ out: inout Outbox) {
        var error = ProxyError("http_request_denied", status: status, "\(details); try again later")
        error.fields = [.init("Retry-After", "\(max(1, (wait + 999) / 1000))")]
        answer(error, &out)
    }
}
