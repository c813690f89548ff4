public import Authorization
public import Interception
public import Passwords

/// The part of a configuration that connections use. It is immutable, and an exchange keeps the one that it began with.
public struct Settings: Sendable {
    public var servers: [AuthorizationServer] = []
    /// The configuration's own Actions, for requests that match no known one.
    public var actions: [ActionDefinition] = []
    public var rules: [Rule] = []
    public var chain = ChainRules()
    /// The environments of hosts, and what is allowed in each.
    public var environments = Environments()
    /// The entries of `authorization`; the first that covers a request applies.
    public var authorization: [AuthorizationPolicy] = []
    public var tokens: TokenPolicy?
    /// Second factors that Usher simulates for test users.
    public var devices: [Device] = []
    /// Decides which TLS is decrypted.
    public var interception = InterceptionPolicy()
    /// Decides which requests go to another proxy.
    public var routes = RouteTable()
    public var limits = Limits()
    public var timeouts = Timeouts()
    /// The proxy's users, if clients must show a password.
    public var users: PasswordTable?
    public var http2 = HTTP2Settings()
    public var disclosure = Disclosure()

    public init() {}
}

/// What records and origins may show of requests.
public struct Disclosure: Sendable {
    /// Names of query parameters whose values the log may show, beside the built-in ones.
    public var parameters: [String] = []
    /// Names of secrets, beside the built-in ones.
    public var secretNames: [String] = []
    /// Values of the configuration's references that may be secrets.
    public var secrets: [String] = []
    /// Limits of what the journal captures; nil if there is no journal.
    public var capture: CaptureLimits?
    /// The field by which origins learn the client's address.
    public var forwarded = ForwardedField.none
    /// The log shows the client's Referer and User-Agent.
    public var tellsProvenance = false
    /// The share of new traces to export, from 0 to 1; nil to disable tracing.
    public var traceShare: Double?

    public init() {}
}

/// The most bytes of bodies that are captured for the journal.
public struct CaptureLimits: Equatable, Sendable {
    /// For each body.
    public var body: Int
    /// For all bodies of current exchanges on one loop.
    public var total: Int

    public init(body: Int, total: Int) {
        self.body = body
        self.total = total
    }
}

/// `limits:` of the configuration, in bytes unless stated otherwise.
public struct Limits: Sendable {
    /// The most client connections at a time, over all workers.
    public var connections = 4096
    /// The most connections of one client.
    public var perClient = share(of: 4096)
    public var header = 32 << 10
    public var headerFields = 128
    public var url = 16 << 10
    /// Nil: no limit.
    public var body: UInt64?
    /// The most bytes of one body that are held when something needs all of it.
    public var bufferedBody = 1 << 20
    /// The most bytes of all bodies that are held, over all workers.
    public var buffered = 64 << 20
    /// The most further attempts of one exchange, for all reasons together.
    public var retries = 10
    /// The most idle connections to one origin on one loop.
    public var idlePerOrigin = 64
    /// The most certificates of intercepted hosts that are cached.
    public var leafCertificates = 1024

    public init() {}

    /// The default for one client: a quarter of all connections, but at least 64.
    public static func share(of connections: Int) -> Int { max(64, connections / 4) }
    /// The most bytes of bodies that are held for one client.
    var clientBuffered: Int { buffered / 2 }
    /// The most bytes of one body that are held for any reason.
    var keptBody: Int { min(bufferedBody, clientBuffered) }
}

/// `timeouts:` of the configuration, in milliseconds.
public struct Timeouts: Sendable {
    /// To resolve a name.
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
    /// For an idle connection to an origin.
    public var poolIdle = 30_000
    /// For a client that closed its sending side before any byte of its response; 0 for no limit.
    public var halfClosed = 5_000
    /// For a drain to wait for current exchanges and tunnels.
    public var drain = 30_000
    /// For further attempts at an interceptor's request, from the arrival of the request.
    public var attempts = 60_000

    public init() {}
}
