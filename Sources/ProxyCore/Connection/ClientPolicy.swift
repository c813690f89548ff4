public import Addresses

/// `clients:` of the configuration: who may use the proxy.
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

        /// No address of another machine is among them.
        public var isLoopback: Bool {
            switch self {
            case .group(let group): group == .loopback
            case .block(let block): AddressGroup.loopback.contains(block)
            }
        }
    }

    public var allow: [Entry]
    /// Balancers whose connections begin with a header of the PROXY protocol; the address in it is then the client's.
    public var balancers: [Entry]

    public init(allow: [Entry] = [.group(.loopback)], balancers: [Entry] = []) {
        self.allow = allow
        self.balancers = balancers
    }

    /// Judges the address that a connection came from; IPv4-mapped IPv6 is judged as IPv4.
    public func admits(_ address: IPAddress) -> Bool { allow.contains { $0.contains(address) } }

    /// Whether a connection from that address has to begin with a header of the PROXY protocol.
    public func isBalancer(_ address: IPAddress) -> Bool { balancers.contains { $0.contains(address) } }
}
