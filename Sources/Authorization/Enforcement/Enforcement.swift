/// `authorization.enforce` of the configuration: how AM is asked about the resources that no Gateway stands before.
public struct Enforcement: Equatable, Sendable {
    /// As whom Usher asks. Whoever asks has to be one who may evaluate policies.
    public enum Caller: Equatable, Sendable {
        /// As whoever sent the request, by the session that it carries.
        case app
        /// By a session that was won elsewhere.
        case session(String)
        /// By a session that Usher logs in for.
        case login(AgentLogin)
    }

    /// One value list of the environment that conditions are judged in.
    public struct Variable: Equatable, Sendable {
        public var name: String
        public var values: [String]

        public init(_ name: String, _ values: [String]) {
            self.name = name
            self.values = values
        }
    }

    /// The policy set.
    public var application = Self.standardApplication
    /// Where the policies are; nil for the first of the server's realms.
    public var realm: String?
    public var caller = Caller.app
    public var environment: [Variable] = []
    /// The client's address is told as `IP`.
    public var tellsAddress = false
    /// The query is part of the resource.
    public var includesQuery = true
    /// The longest for which a decision is kept, in milliseconds, whatever AM says; 0 for none.
    public var maxAge = 60_000
    /// Questions that may be under way at one time.
    public var concurrency = 64

    /// What AM takes where nobody names a policy set.
    public static let standardApplication = "iPlanetAMWebAgentService"

    public init() {}
}

/// An account whose session Usher asks with: an agent of AM's own or a user, whose name and password a tree takes as
/// header fields.
public struct AgentLogin: Hashable, Sendable {
    public var user: String
    public var password: String
    /// Nil for the realm's own.
    public var tree: String?

    public init(user: String, password: String, tree: String? = nil) {
        self.user = user
        self.password = password
        self.tree = tree
    }
}
