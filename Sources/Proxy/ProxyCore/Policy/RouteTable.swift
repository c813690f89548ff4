internal import Addresses
internal import Interception

/// The ways to origins. `destinations.via` of the configuration: the requests that go to another proxy; the first matching entry
/// decides.
public struct RouteTable: Sendable {
    public struct Entry: Sendable {
        /// Globs over the host.
        let hosts: [String]
        /// The proxy; nil to connect to the origin directly.
        public let proxy: UpstreamProxy?

        public init(hosts: [String], proxy: UpstreamProxy?) {
            self.hosts = hosts.map { HostName.normalized($0) }
            self.proxy = proxy
        }
    }

    public var entries: [Entry]
    /// `destinations.connect_ports`: the ports that CONNECT may use; nil for all.
    public var connectPorts: [UInt16]?

    public init(_ entries: [Entry] = []) { self.entries = entries }

    public var isEmpty: Bool { entries.isEmpty }

    /// The proxy for requests to that host; nil for none.
    /// - Parameter host: a name or an address without brackets.
    public func proxy(for host: String) -> UpstreamProxy? {
        if entries.isEmpty { return nil }
        let name = HostName.normalized(host)
        return entries.first { $0.hosts.contains { Glob.matches($0, name) } }?.proxy
    }
}
