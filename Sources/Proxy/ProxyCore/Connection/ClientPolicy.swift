public import Addresses

/// `clients:` of the configuration: the clients that may use the proxy.
public struct ClientPolicy: Equatable, Sendable {
    public enum Entry: Hashable, Sendable {
        case group(AddressGroup)
        case block(AddressBlock)

        func contains(_ address: IPAddress) -> Bool {
            switch self {
            case .group(let group): group.contains(address)
            case .block(let block): block.contains(address)
            }
        }

        /// Whether the entry covers only addresses of this machine.
        public var isLoopback: Bool {
            switch self {
            case .group(let group): group == .loopback
            case .block(let block): AddressGroup.loopback.contains(block)
            }
        }
    }

    public var allow: [Entry]
    /// Balancers whose connections begin with a PROXY protocol header, which gives the client's address.
    public var balancers: [Entry]

    public init(allow: [Entry] = [.group(.loopback)], balancers: [Entry] = []) {
        self.allow = allow
        self.balancers = balancers
    }

    /// Judges the peer address of a connection; an IPv4-mapped IPv6 address counts as IPv4.
    public func admits(_ address: IPAddress) -> Bool { allow.contains { $0.contains(address) } }

    /// Whether a connection from that address must begin with a PROXY protocol header.
    public func isBalancer(_ address: IPAddress) -> Bool { balancers.contains { $0.contains(address) } }
}
