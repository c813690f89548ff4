internal import HTTPCodec

/// The addresses that share a prefix: `10.0.0.0/8`, or one address alone.
public struct AddressBlock: Hashable, Sendable {
    /// The first address; IPv4 where it was written as IPv4-mapped IPv6.
    public let base: IPAddress
    /// Bits that count, 0...32 or 0...128.
    public let prefix: Int

    /// One address alone.
    public init(_ address: IPAddress) {
        let plain = address.unmapped
        self.init(base: plain, prefix: plain.family.width)
    }

    private init(base: IPAddress, prefix: Int) {
        self.base = base
        self.prefix = prefix
    }

    /// Reads `10.0.0.0/8`, `fe80::/10` or a plain address. Nil also when bits behind the prefix are set, for then the
    /// writer meant something else than what would be matched.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        guard parts.count > 1 else {
            self.init(address)
            return
        }
        guard parts.count == 2, parts[1].utf8.count <= 3, !parts[1].isEmpty, parts[1].utf8.allSatisfy(ASCII.isDigit),
            let prefix = Int(parts[1]), prefix <= address.family.width,
            address.bits & Self.hostMask(address.family, prefix) == 0
        else { return nil }
        // a block inside ::ffff:0:0/96 is a block of IPv4 addresses
        if address.unmapped.family == .v4, address.family == .v6, prefix >= 96 {
            self.init(base: address.unmapped, prefix: prefix - 96)
        } else {
            self.init(base: address, prefix: prefix)
        }
    }

    /// An IPv4-mapped IPv6 address is judged as the IPv4 address that it stands for.
    public func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        guard address.family == base.family else { return false }
        return (address.bits ^ base.bits) & ~Self.hostMask(base.family, prefix) == 0
    }

    /// Every address of the other block is in this one.
    func contains(_ other: AddressBlock) -> Bool { prefix <= other.prefix && contains(other.base) }

    /// True for one address alone.
    public var isSingle: Bool { prefix == base.family.width }

    private static func hostMask(_ family: IPAddress.Family, _ prefix: Int) -> UInt128 {
        let free = family.width - prefix
        return free == 128 ? UInt128.max : (1 << UInt128(free)) - 1
    }
}

/// Addresses that go by a name in the configuration.
public enum AddressGroup: String, CaseIterable, Sendable {
    case loopback
    case linkLocal = "link-local"
    case metadata
    case `private`

    /// Parsed once: policies ask on every connection.
    public var blocks: [AddressBlock] {
        switch self {
        case .loopback: Self.loopbackBlocks
        case .linkLocal: Self.linkLocalBlocks
        case .metadata: Self.metadataBlocks
        case .private: Self.privateBlocks
        }
    }

    public func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address) } }

    /// Whether every address of the block belongs to the group.
    public func contains(_ block: AddressBlock) -> Bool { blocks.contains { $0.contains(block) } }

    // the unspecified addresses belong here: connecting to them reaches this machine
    private static let loopbackBlocks = parse(["127.0.0.0/8", "0.0.0.0", "::1", "::"])
    private static let linkLocalBlocks = parse(["169.254.0.0/16", "fe80::/10"])
    /// Where clouds hand their machines credentials: AWS, Azure, Google and others share the first; then AWS over
    /// IPv6, AWS containers, AWS pods, Google over IPv6, Azure's wire server, Alibaba, Oracle.
    private static let metadataBlocks = parse([
        "169.254.169.254", "fd00:ec2::254", "169.254.170.2", "169.254.170.23", "fd00:ec2::23", "fd20:ce::254",
        "168.63.129.16", "100.100.100.200", "192.0.0.192",
    ])
    private static let privateBlocks = parse(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"])

    private static func parse(_ texts: [String]) -> [AddressBlock] { texts.compactMap { AddressBlock($0) } }
}
