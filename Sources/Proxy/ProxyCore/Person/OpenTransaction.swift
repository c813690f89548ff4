internal import Addresses
public import Authorization
internal import HTTPCodec

/// A step-up that waits for a person, as that person sees it. It holds no secret.
public struct OpenTransaction: Sendable {
    /// The client whose request waits.
    public struct Client: Sendable {
        /// The address; empty if unknown.
        public var address: String
        /// The user of the proxy.
        public var user: String?
        /// The id of the test session.
        public var session: String?
        /// The name by which the client's step-ups are counted.
        var identity: String { session ?? user.map { "user \($0)" } ?? network }
        let network: String

        public init(address: String, network: String, user: String? = nil, session: String? = nil) {
            self.address = address
            self.network = network
            self.user = user
            self.session = session
        }
    }

    public var client: Client
    public var method: String
    /// The URL as the log shows it, cut at 1 KiB.
    public var resource: String
    /// The URL of the AM server that asks.
    public var server: String
    public var realm: String
    /// The tree in the advice; nil for a transaction's own tree.
    public var tree: String?
    public var step: OpenStep
    /// Monotonic milliseconds.
    public var since: Int
    /// The time up to which the app's request is held.
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

extension FilterContext {
    /// The most bytes of the URL that a waiting step-up keeps; up to a thousand may wait.
    private static let longestURL = 1 << 10

    func transaction(
        _ step: OpenStep, in realm: String, tree: String?, at server: String, since: Int, until: Int
    ) -> OpenTransaction {
        OpenTransaction(
            client: .init(
                address: client.address?.description ?? "",
                network: client.address?.clientNetwork.base.description ?? "", user: client.user,
                session: client.session),
            method: request.methodText,
            resource: String(decoding: url.prefix(Self.longestURL), as: UTF8.self)
                + (url.count > Self.longestURL ? "…" : ""),
            server: server, realm: realm, tree: tree, step: step, since: since, until: until)
    }
}
