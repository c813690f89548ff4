internal import HTTPCodec
internal import Interception

/// `destinations.via` of the configuration: which requests are sent on to another proxy. The first entry that fits decides.
public struct RouteTable: Sendable {
    public struct Entry: Sendable {
        /// Globs over the host, in lower case.
        public var hosts: [String]
        /// Nil: straight to the origin.
        public var proxy: UpstreamProxy?

        public init(hosts: [String], proxy: UpstreamProxy?) {
            self.hosts = hosts.map { ASCII.lowercased($0) }
            self.proxy = proxy
        }
    }

    public var entries: [Entry]

    public init(_ entries: [Entry] = []) { self.entries = entries }

    public var isEmpty: Bool { entries.isEmpty }

    /// The proxy for requests to that host, nil for none.
    /// - Parameter host: lower case, without brackets.
    public func proxy(for host: String) -> UpstreamProxy? {
        let name = host.count > 1 && host.hasSuffix(".") ? String(host.dropLast()) : host
        return entries.first { $0.hosts.contains { Glob.matches($0, name) } }?.proxy
    }
}
