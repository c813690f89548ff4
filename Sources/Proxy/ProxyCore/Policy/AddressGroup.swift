public import Addresses

/// Groups of addresses that the configuration names.
public enum AddressGroup: String, CaseIterable, Sendable {
    case loopback
    case linkLocal = "link-local"
    case metadata
    case `private`

    /// Parsed once, as policies read it for every connection.
    public var blocks: [AddressBlock] {
        switch self {
        case .loopback: Self.loopbackBlocks
        case .linkLocal: Self.linkLocalBlocks
        case .metadata: Self.metadataBlocks
        case .private: Self.privateBlocks
        }
    }

    public func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address) } }

    /// Every address of the block belongs to the group.
    public func contains(_ block: AddressBlock) -> Bool { blocks.contains { $0.contains(block) } }

    // includes the unspecified addresses, as connecting to them reaches this machine
    private static let loopbackBlocks = parse(["127.0.0.0/8", "0.0.0.0", "::1", "::"])
    private static let linkLocalBlocks = parse(["169.254.0.0/16", "fe80::/10"])
    /// The metadata services of clouds, which give machines credentials. AWS, Azure, Google and others share the first; then AWS
    /// over IPv6, AWS containers, AWS pods, Google over IPv6, Azure's wire server, Alibaba, Oracle.
    private static let metadataBlocks = parse([
        "169.254.169.254", "fd00:ec2::254", "169.254.170.2", "169.254.170.23", "fd00:ec2::23", "fd20:ce::254",
        "168.63.129.16", "100.100.100.200", "192.0.0.192",
    ])
    private static let privateBlocks = parse(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"])

    private static func parse(_ texts: [String]) -> [AddressBlock] { texts.compactMap { AddressBlock($0) } }
}

extension IPAddress {
    public var isLoopback: Bool { AddressGroup.loopback.contains(self) }
}
