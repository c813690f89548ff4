internal import Formats
public import HTTPCodec
public import Interception

/// The `tokens` section of the configuration.
public struct TokenPolicy: Sendable {
    public let sources: [TokenSource]
    /// The sources whose tokens come from clients' own exchanges.
    public let learned: [TokenSource]
    /// The servers where clients may change the tokens themselves.
    public let servers: [AuthorizationServer]

    public init(_ sources: [TokenSource]) {
        self.sources = sources
        learned = sources.filter { $0.settings.manner == .learned }
        servers = sources.filter { $0.settings.manner != .clientCredentials }.map(\.settings.server)
            .reduce(into: []) { known, server in
                if !known.contains(where: { $0.url == server.url }) { known.append(server) }
            }
    }

    /// The first entry that covers a request. For an unnamed host, the check is a comparison of its name only.
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
