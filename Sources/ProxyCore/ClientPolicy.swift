/// `clients:` of the configuration: who may use the proxy.
public struct ClientPolicy: Equatable, Sendable {
    public enum Entry: Equatable, Sendable {
        case group(AddressGroup)
        case block(AddressBlock)

        func contains(_ address: IPAddress) -> Bool {
            switch self {
            case .group(let group): group.contains(address)
            case .block(let block): block.contains(address)
            }
        }
    }

    public var allow: [Entry]

    public init(allow: [Entry] = [.group(.loopback)]) { self.allow = allow }

    /// Judges the address that a connection came from; IPv4-mapped IPv6 is judged as IPv4.
    public func admits(_ address: IPAddress) -> Bool { allow.contains { $0.contains(address) } }
}
