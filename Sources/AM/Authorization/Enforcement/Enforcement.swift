/// `authorization.enforce` of the configuration: how Usher asks AM about resources without a Gateway.
public struct Enforcement: Equatable, Sendable {
    /// The account that asks. It needs the privilege to evaluate policies.
    public enum Caller: Equatable, Sendable {
        /// The sender of the request, with the request's own session.
        case app
        /// A session that was obtained elsewhere.
        case session(String)
        /// A session that Usher obtains by a login.
        case login(AgentLogin)
    }

    /// A name with its values in the environment of policy conditions.
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
    /// The realm of the policies; nil for the server's first realm.
    public var realm: String?
    public var caller = Caller.app
    public var environment: [Variable] = []
    /// True to send the client's address as `IP`.
    public var tellsAddress = false
    /// True if the query is part of the resource.
    public var includesQuery = true
    /// The maximum time to cache a decision, in milliseconds, whatever AM says; 0 for none.
    public var maxAge = 60_000
    /// The limit of concurrent questions.
    public var concurrency = 64

    /// AM's default policy set.
    public static let standardApplication = "iPlanetAMWebAgentService"

    public init() {}
}

/// The account whose session Usher asks with: an agent of AM or a user. The tree reads its name and password from header fields.
public struct AgentLogin: Hashable, Sendable {
    public var user: String
    public var password: String
    /// Nil for the realm's default tree.
    public var tree: String?

    public init(user: String, password: String, tree: String? = nil) {
        self.user = user
        self.password = password
        self.tree = tree
    }
}
