internal import Formats
public import HTTPCodec
public import Interception

/// `tokens:` of the configuration.
public struct TokenPolicy: Sendable {
    public let sources: [TokenSource]
    /// Those whose tokens come from exchanges of clients.
    public let learned: [TokenSource]
    /// Servers that clients deal with themselves about what is kept here.
    public let servers: [AuthorizationServer]

    public init(_ sources: [TokenSource]) {
        self.sources = sources
        learned = sources.filter { $0.settings.manner == .learned }
        servers = sources.filter { $0.settings.manner != .clientCredentials }.map(\.settings.server)
            .reduce(into: []) { known, server in
                if !known.contains(where: { $0.url == server.url }) { known.append(server) }
            }
    }

    /// The entry that covers a request; the first that does. A request to a host that none names costs a look at its name.
    public func source(for head: RequestHead) -> TokenSource? {
        sources.first { source in source.hosts.contains { Self.fits($0, head) } && source.admits(head) }
    }

    private static func fits(_ host: (name: [UInt8], isDomain: Bool), _ head: RequestHead) -> Bool {
        let range = head.target.host.indices
        guard host.isDomain ? range.count > host.name.count : range.count == host.name.count else { return false }
        let bytes = head.fields.bytes.span
        var place = range.upperBound - host.name.count
        for byte in host.name {
            if ASCII.lower(bytes[place]) != byte { return false }
            place += 1
        }
        return true
    }
}
