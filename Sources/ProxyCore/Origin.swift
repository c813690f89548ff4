public import HTTPCodec

/// Where a request goes: the key of pooled connections.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    public var scheme: Target.Scheme
    /// Lower case, without brackets.
    public var host: String
    public var port: UInt16
    /// The way there, where it leads by another proxy.
    public var route: Route?
    /// The name that TLS asks for and checks, where it is not `host`: the client asked for it in a tunnel to there.
    public var serverName: String?
    /// HTTP/2 is likely to be spoken there without TLS: who asks for it in a tunnel has begun so, which is for those who know
    /// (RFC 9113 §3.3).
    public internal(set) var isSaidToSpeakHTTP2 = false

    public init(scheme: Target.Scheme, host: String, port: UInt16, route: Route? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.route = route
    }

    init(_ head: RequestHead, _ routes: RouteTable) {
        self.init(scheme: head.target.scheme, host: head.host, port: head.target.port)
        route = routes.proxy(for: host).map { scheme == .https ? .tunnel($0) : .forward($0) }
    }

    /// What idle connections are kept under: a proxy that is asked for whole URLs takes those of every origin.
    public var poolKey: Origin {
        guard case .forward = route else { return self }
        return Origin(scheme: scheme, host: "", port: 0, route: route)
    }

    /// The name and port that are connected to.
    public var hop: (host: String, port: UInt16) {
        if let proxy = route?.proxy { (proxy.host, proxy.port) } else { (host, port) }
    }

    /// Whoever is connected to, for messages.
    var peer: String {
        if let proxy = route?.proxy { "the upstream proxy \(proxy)" } else { description }
    }

    /// Compares without making a `String`.
    func matches(_ head: borrowing RequestHead) -> Bool {
        head.target.port == port && head.target.scheme == scheme && isNamed(by: head)
    }

    /// Whether that is what the request calls it, its scheme and port aside.
    func isNamed(by head: borrowing RequestHead) -> Bool { head.fields.equal(head.target.host, serverName ?? host) }

    /// The same place with TLS spoken to it.
    var secured: Origin {
        var origin = self
        origin.scheme = .https
        return origin
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
