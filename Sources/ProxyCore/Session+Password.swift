import HTTPCodec
import Interception

/// `clients.basic`: who asks has to say who it is (RFC 9110 §11.7, RFC 7617).
extension Session {
    /// How long a check may take, in milliseconds, when many wait.
    private static let longestCheck = 10_000
    private static let wrongPassword = "the user name or the password is wrong"

    /// Inside a tunnel the request is meant for the origin; who opened the tunnel has shown its password.
    var asksForPassword: Bool { engine.settings.users != nil && tunnelTarget == nil }

    /// Sends the password to be checked, or asks for one.
    mutating func authenticate(_ out: inout Outbox) {
        user = nil
        guard let users = engine.settings.users, let credentials = BasicCredentials(request) else {
            let lacks = !request.fields.contains(.proxyAuthorization)
            return challenge(
                lacks
                    ? "this proxy asks for a user name and a password: write them into its URL, http://USER:PASSWORD@HOST:PORT"
                    : "Proxy-Authorization has to hold one user name and password in the scheme Basic", &out)
        }
        guard let hash = users.hash(of: credentials.user) else { return challenge(Self.wrongPassword, &out) }
        phase = .authenticating
        deadline = now + Self.longestCheck
        out.orders.append(
            .authenticate(
                PasswordCheck(
                    flow: record.flow, user: credentials.user, password: credentials.password, hash: hash.text,
                    isDecoy: hash.isDecoy, client: source.address)))
    }

    /// The password was checked. An answer that comes too late finds another flow or another phase.
    public mutating func authenticated(
        _ verdict: PasswordVerdict, flow: UInt64, now: Int, _ out: inout Outbox
    ) {
        self.now = now
        guard phase == .authenticating, record.flow == flow else { return }
        switch verdict {
        case .right:
            user = BasicCredentials(request)?.user
            record.user = user
            if let user, !isCounted(user, &out) { return }
            if binding.passes(to: user) { out.orders.append(.unbind) }
            do {
                try admitted(&out)
            } catch {
                refuse(error, &out)
            }
            // finished already: what is next has been ordered
            if phase == .awaitingRequest { return }
            // the body, or the end of it, may have come while the password was being checked
            if !clientPending.isEmpty { drainClientPending(&out) } else if clientEnded { missEnd(&out) }
        case .wrong: challenge(Self.wrongPassword, &out)
        case .tooMany(let wait):
            refuseCheck(429, "too many wrong passwords came from this network, or for this user", wait: wait, &out)
        case .busy: refuseCheck(503, "too many passwords wait to be checked", wait: 1_000, &out)
        }
    }

    mutating func authenticationTimedOut(_ out: inout Outbox) {
        refuseCheck(503, "the password could not be checked in time", wait: 1_000, &out)
    }

    private mutating func challenge(_ details: String, _ out: inout Outbox) {
        phase = .exchanging
        var error = ProxyError("http_request_denied", status: 407, details)
        error.fields = [#"Proxy-Authenticate: Basic realm="usher", charset="UTF-8""#]
        if let name = BasicCredentials(request)?.user {
            note(.note, "no right password for the user \(name.prefix(64))")
        }
        answer(error, &out)
    }

    private mutating func refuseCheck(_ status: Int, _ details: String, wait: Int, _ out: inout Outbox) {
        phase = .exchanging
        var error = ProxyError("http_request_denied", status: status, "\(details); try again later")
        error.fields = ["Retry-After: \(max(1, (wait + 999) / 1000))"]
        answer(error, &out)
    }
}
