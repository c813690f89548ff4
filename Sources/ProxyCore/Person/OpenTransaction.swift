public import Authorization

/// A step-up that waits for a person, as that person sees it. Nothing in it is a secret.
public struct OpenTransaction: Sendable {
    /// Whose request it is.
    public struct Client: Sendable {
        /// The address; empty where it is unknown.
        public var address: String
        /// The user of the proxy.
        public var user: String?
        /// Who it is where clients are counted.
        var identity: String { user.map { "user \($0)" } ?? network }
        let network: String

        public init(address: String, network: String, user: String? = nil) {
            self.address = address
            self.network = network
            self.user = user
        }
    }

    public var client: Client
    public var method: String
    /// As the log shows it; what is beyond 1 KiB is left out.
    public var resource: String
    /// The URL of the server that asks.
    public var server: String
    public var realm: String
    /// The tree that the advice names; nil for a transaction's own.
    public var tree: String?
    public var step: OpenStep
    /// Monotonic milliseconds.
    public var since: Int
    /// When the app is not held any longer.
    public var until: Int

    public init(
        client: Client, method: String, resource: String, server: String, realm: String, tree: String?, step: OpenStep,
        since: Int, until: Int
    ) {
        self.client = client
        self.method = method
        self.resource = resource
        self.server = server
        self.realm = realm
        self.tree = tree
        self.step = step
        self.since = since
        self.until = until
    }
}
