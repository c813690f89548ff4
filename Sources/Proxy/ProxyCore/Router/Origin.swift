public import HTTPCodec

/// The destination of a request, which is the key of pooled connections. It is copied for each request, so it is one reference
/// with a precomputed hash.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    private var place: Place

    public init(scheme: Target.Scheme, host: String, port: UInt16, route: Route? = nil) {
        place = Place(Parts(scheme: scheme, host: host, port: port, route: route))
    }

    public var scheme: Target.Scheme { place.parts.scheme }
    /// Lower case, without brackets.
    public var host: String { place.parts.host }
    public var port: UInt16 { place.parts.port }
    /// The route, when it leads through another proxy.
    public var route: Route? {
        get { place.parts.route }
        set { change { $0.route = newValue } }
    }
    /// The name for SNI and certificate checks when it is not `host`: the client sent it in a tunnel to that host.
    public var serverName: String? {
        get { place.parts.serverName }
        set { change { $0.serverName = newValue } }
    }
    /// Whether the client began HTTP/2 without TLS in its tunnel there, which requires prior knowledge that the server
    /// supports it (RFC 9113 §3.3).
    public internal(set) var isSaidToSpeakHTTP2: Bool {
        get { place.parts.isSaidToSpeakHTTP2 }
        set { change { $0.isSaidToSpeakHTTP2 = newValue } }
    }

    /// Whether the connection is for filters' calls alone.
    public private(set) var isForCalls: Bool {
        get { place.parts.isForCalls }
        set { change { $0.isForCalls = newValue } }
    }

    /// The same origin, by connections of calls or of clients.
    func used(by terms: RouterTerms) -> Origin {
        guard isForCalls != terms.isCall else { return self }
        var origin = self
        origin.isForCalls = terms.isCall
        return origin
    }

    private mutating func change(_ change: (inout Parts) -> Void) {
        var parts = place.parts
        change(&parts)
        place = Place(parts)
    }

    public static func == (left: Origin, right: Origin) -> Bool {
        left.place === right.place
            || left.place.digest == right.place.digest && left.place.parts == right.place.parts
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(place.digest) }

    init(_ head: borrowing RequestHead, _ routes: RouteTable) {
        let scheme = head.target.scheme
        let host = head.host
        self.init(
            scheme: scheme, host: host, port: head.target.port,
            route: routes.proxy(for: host).map { scheme == .https ? .tunnel($0) : .forward($0) })
    }

    /// The key for idle connections: a proxy that takes absolute URLs shares them among all origins.
    public var poolKey: Origin { place.proxy ?? self }

    /// The name and port to connect to.
    public var hop: (host: String, port: UInt16) {
        if let proxy = route?.proxy { (proxy.host, proxy.port) } else { (host, port) }
    }

    /// The peer of the connection, for messages.
    var peer: String {
        if let proxy = route?.proxy { "the upstream proxy \(proxy)" } else { description }
    }

    /// Compares without making a `String`.
    func matches(_ head: borrowing RequestHead) -> Bool {
        head.target.port == port && head.target.scheme == scheme && isNamed(by: head)
    }

    /// Whether the request's host is this origin's name, whatever its scheme and port.
    func isNamed(by head: borrowing RequestHead) -> Bool { head.fields.equal(head.target.host, serverName ?? host) }

    /// The same origin over TLS.
    public var secured: Origin {
        var origin = self
        origin.change { $0.scheme = .https }
        return origin
    }

    /// The same host and port without TLS or another protocol.
    public var unspoken: Origin { Origin(scheme: .http, host: host, port: port, route: route) }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private struct Parts: Hashable, Sendable {
        var scheme: Target.Scheme
        let host: String
        let port: UInt16
        var route: Route?
        var serverName: String?
        var isSaidToSpeakHTTP2 = false
        var isForCalls = false
    }

    private final class Place: Sendable {
        let parts: Parts
        let digest: Int
        /// The proxy on the route that takes absolute URLs.
        let proxy: Origin?

        init(_ parts: Parts) {
            self.parts = parts
            digest = parts.hashValue
            if case .forward = parts.route, !parts.host.isEmpty {
                var shared = Origin(scheme: parts.scheme, host: "", port: 0, route: parts.route)
                if parts.isForCalls { shared.isForCalls = true }
                proxy = shared
            } else {
                proxy = nil
            }
        }
    }
}
