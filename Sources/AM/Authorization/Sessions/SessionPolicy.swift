internal import Interception

/// Session settings of an `authorization` entry: `session`, `login` and `learned`.
public struct SessionPolicy: Sendable {
    public enum Source: String, Sendable, CaseIterable {
        /// Only the cookie or header of the request.
        case request = "request_cookie"
        /// From observed logins of the same client.
        case learned
        /// From a login by Usher.
        case login
    }

    /// The feature by which clients are distinguished.
    public enum Identity: Equatable, Sendable {
        /// By proxy user, else by address.
        case client
        case user, address
        /// By the value of a header, separately for each user or address.
        case header(String)
    }

    public var source = Source.request
    public var login = SessionLogin()
    public var identity = Identity.client
    /// How long a learned session is kept, in milliseconds.
    public var keep = 7_200_000

    public init() {}
}

/// A login by Usher, for requests without a session.
public struct SessionLogin: Sendable {
    /// Nil for the realm's default tree.
    public var tree: String?
    public var realm = "/"
    /// The user, for answers and devices of one user.
    public var user: String?
    /// The answers to callbacks.
    public var answers: [AuthorizationPolicy.CallbackAnswer] = []
    /// The idle limit and the total limit of a session if AM does not give them, in milliseconds.
    public var maxIdle = 1_800_000
    public var maxTime = 7_200_000
    /// How long to wait after a failed login, in milliseconds.
    public var coolDown = 60_000
    /// True to log out the session at AM once it is unused.
    public var logsOut = false

    public init() {}
}

extension AuthorizationPolicy {
    /// The identity of this login by Usher; a secret.
    public var loginMaterial: [UInt8] {
        Login.material(
            [
                server.url, sessions.login.realm, sessions.login.tree.map { "tree \($0)" } ?? "",
                sessions.login.user ?? "",
            ]
                + sessions.login.answers.flatMap(\.parts))
    }

    /// The policy with the answers of the login and without a person.
    var forLogin: AuthorizationPolicy {
        var policy = self
        policy.answers = sessions.login.answers
        policy.person = PersonPolicy()
        return policy
    }

    /// True if Usher learns tokens for replays, or sessions for requests without one.
    public var learns: Bool { sessions.source == .learned || showsIDToken }
}
