public import Authorization
public import Interception
public import Passwords

/// The part of a configuration that one connection acts by. Immutable; every exchange keeps the one that it began with.
public struct Settings: Sendable {
    public var servers: [AuthorizationServer] = []
    /// Actions of the configuration's own, for requests that are no known one.
    public var actions: [ActionDefinition] = []
    public var rules: [Rule] = []
    public var chain = ChainRules()
    /// The first that covers a request is the one for it.
    public var authorization: [AuthorizationPolicy] = []
    public var tokens: TokenPolicy?
    /// Second factors that are played for test users.
    public var devices: [Device] = []
    /// Whose TLS is opened.
    public var interception = InterceptionPolicy()
    /// Which requests go by way of another proxy.
    public var routes = RouteTable()
    public var limits = Limits()
    public var timeouts = Timeouts()
    /// Who may use the proxy, where clients have to show a password.
    public var users: PasswordTable?
    public var http2 = HTTP2Settings()
    public var disclosure = Disclosure()
    /// Ports that CONNECT may go to; nil for any.
    public var connectPorts: [UInt16]?

    public init() {}
}

/// What may be told of requests, and what never.
public struct Disclosure: Sendable {
    /// Names of query parameters whose values the log may show, beside those that are harmless anyway.
    public var parameters: [String] = []
    /// Names of what is a secret, beside those that are known to be.
    public var secretNames: [String] = []
    /// What references of the configuration were filled in with, where that may be a secret.
    public var secrets: [String] = []
    /// What the journal is told of exchanges; nil where none is kept.
    public var capture: CaptureLimits?
    /// Whether origins are told whose request it is, and how.
    public var forwarded = ForwardedField.none
    /// The log tells whence clients came and what they call themselves.
    public var tellsProvenance = false
    /// Of the traces that begin here, how many are exported, from 0 to 1; nil where none are, and requests belong to none.
    public var traceShare: Double?

    public init() {}
}

/// How much of the bodies of exchanges is kept for the journal.
public struct CaptureLimits: Equatable, Sendable {
    /// Bytes of each body.
    public var body: Int
    /// Bytes of all bodies of exchanges that are under way on one loop.
    public var total: Int

    public init(body: Int, total: Int) {
        self.body = body
        self.total = total
    }
}

/// `limits:` of the configuration. Bytes unless said otherwise.
public struct Limits: Sendable {
    /// Client connections at one time, over all workers.
    public var connections = 4096
    /// How many of them one client may have.
    public var perClient = share(of: 4096)
    public var header = 32 << 10
    public var headerFields = 128
    public var url = 16 << 10
    /// Nil: unlimited.
    public var body: UInt64?
    /// How much of one body is held where something needs to see it whole.
    public var bufferedBody = 1 << 20
    /// How much is held of all bodies together, over all workers.
    public var buffered = 64 << 20
    /// How many further attempts one exchange gets, whoever asks for them.
    public var retries = 10
    /// Idle connections kept for one origin on one loop.
    public var idlePerOrigin = 64
    /// Certificates made for intercepted hosts that are kept.
    public var leafCertificates = 1024

    public init() {}

    /// How many of so many connections one client may have where nobody says: a part, where there are many.
    public static func share(of connections: Int) -> Int { max(64, connections / 4) }
    /// Bytes of bodies that may be held for one client.
    var clientBuffered: Int { buffered / 2 }
    /// The most that is held of one body for any reason.
    var keptBody: Int { min(bufferedBody, clientBuffered) }
}

/// `timeouts:` of the configuration, in milliseconds.
public struct Timeouts: Sendable {
    /// Until a name has an address.
    public var resolve = 5_000
    public var connect = 5_000
    public var tls = 5_000
    /// From a request's first byte to the end of its head.
    public var header = 10_000
    /// Between requests, and without a byte in either direction within one.
    public var idle = 60_000
    /// From the end of a request to the head of its response.
    public var response = 60_000
    public var tunnelIdle = 600_000
    /// How long an idle connection to an origin is kept.
    public var poolIdle = 30_000
    /// How long a client that closed its side is answered for, while nothing of the answer has come; 0 for ever.
    public var halfClosed = 5_000
    /// How long a drain waits for exchanges and tunnels under way.
    public var drain = 30_000
    /// How long after a request came it may still be sent again at an interceptor's wish.
    public var attempts = 60_000

    public init() {}
}
