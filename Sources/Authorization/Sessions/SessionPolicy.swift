internal import Interception

/// Where the session of a request comes from, and what of clients' logins is kept: `session`, `login` and `learned` of an
/// entry of `authorization`.
public struct SessionPolicy: Sendable {
    public enum Source: String, Sendable, CaseIterable {
        /// The request itself carries it, in a cookie or a header.
        case request = "request_cookie"
        /// From logins of the same client that were seen.
        case learned
        /// From a login of Usher's own.
        case login
    }

    /// By what clients are told apart.
    public enum Identity: Equatable, Sendable {
        /// Who showed a password, else the address.
        case client
        case user, address
        /// The value of a header, for each user or address by itself.
        case header(String)
    }

    public var source = Source.request
    public var login = SessionLogin()
    public var identity = Identity.client
    /// How long a session is kept that was learned, in milliseconds.
    public var keep = 7_200_000

    public init() {}
}

/// A login of Usher's own, for the requests that carry no session.
public struct SessionLogin: Sendable {
    /// Nil for the realm's default.
    public var tree: String?
    public var realm = "/"
    /// Whom it signs in, for answers and devices that are somebody's.
    public var user: String?
    /// What the callbacks are answered with.
    public var answers: [AuthorizationPolicy.CallbackAnswer] = []
    /// How long AM keeps a session that is not used, and any, where AM does not tell. In milliseconds.
    public var maxIdle = 1_800_000
    public var maxTime = 7_200_000
    /// How long nobody tries again after a login that came to nothing, in milliseconds.
    public var coolDown = 60_000
    /// The session is ended at AM once nobody has use for it.
    public var logsOut = false

    public init() {}
}

extension AuthorizationPolicy {
    /// Which login of Usher's own it is; a secret.
    public var loginMaterial: [UInt8] {
        Login.material(
            [
                server.url, sessions.login.realm, sessions.login.tree.map { "tree \($0)" } ?? "",
                sessions.login.user ?? "",
            ]
                + sessions.login.answers.flatMap(\.parts))
    }

    /// The same with the answers of the login. Nobody is asked for those of Usher's own.
    var forLogin: AuthorizationPolicy {
        var policy = self
        policy.answers = sessions.login.answers
        policy.person = PersonPolicy()
        return policy
    }

    /// Tokens of clients are learned for what replays show, sessions where requests carry none.
    public var learns: Bool { sessions.source == .learned || showsIDToken }
}
