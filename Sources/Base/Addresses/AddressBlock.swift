import Formats

/// A CIDR block of addresses, such as `10.0.0.0/8`. A single address is a block, too.
public struct AddressBlock: Hashable, Sendable {
    /// The first address. An IPv4-mapped IPv6 address is stored as IPv4.
    public let base: IPAddress
    /// The number of significant bits, 0...32 or 0...128.
    public let prefix: Int

    /// The block that holds this address alone.
    public init(_ address: IPAddress) {
        let plain = address.unmapped
        self.init(base: plain, prefix: plain.family.width)
    }

    /// The block of that size that contains the address.
    /// - Parameter prefix: clamped to 0 and the width of the address's family.
    public init(around address: IPAddress, prefix: Int) {
        let plain = address.unmapped
        let prefix = min(max(0, prefix), plain.family.width)
        self.init(
            base: IPAddress(family: plain.family, bits: plain.bits & ~Self.hostMask(plain.family, prefix)),
            prefix: prefix)
    }

    private init(base: IPAddress, prefix: Int) {
        self.base = base
        self.prefix = prefix
    }

    /// Parses `10.0.0.0/8`, `fe80::/10` or a plain address. Returns nil also if bits behind the prefix are set: the block
    /// would then match more than was written.
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
        // a block inside ::ffff:0:0/96 holds IPv4 addresses
        if address.unmapped.family == .v4, address.family == .v6, prefix >= 96 {
            self.init(base: address.unmapped, prefix: prefix - 96)
        } else {
            self.init(base: address, prefix: prefix)
        }
    }

    /// Whether the address lies in this block. An IPv4-mapped IPv6 address counts as IPv4.
    public func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        guard address.family == base.family else { return false }
        return (address.bits ^ base.bits) & ~Self.hostMask(base.family, prefix) == 0
    }

    /// Whether this block contains all of the other.
    public func contains(_ other: AddressBlock) -> Bool { prefix <= other.prefix && contains(other.base) }

    /// Whether the block holds one address alone.
    public var isSingle: Bool { prefix == base.family.width }

    private static func hostMask(_ family: IPAddress.Family, _ prefix: Int) -> UInt128 {
        let free = family.width - prefix
        return free == 128 ? UInt128.max : (1 << UInt128(free)) - 1
    }
}
