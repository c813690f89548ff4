import Formats

/// An IPv4 or IPv6 address as a value. It makes no system call and resolves no name.
public struct IPAddress: Hashable, Sendable {
    public enum Family: UInt8, Sendable {
        case v4, v6

        /// The number of bits of an address.
        public var width: Int { self == .v4 ? 32 : 128 }
    }

    public let family: Family
    // two words: a UInt128 would align each type that holds an address to 16 bytes
    private let high: UInt64
    private let low: UInt64

    /// The address as a number; an IPv4 address in the low 32 bits.
    public var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

    /// - Parameter bits: at most `family.width` bits, right-aligned.
    public init(family: Family, bits: UInt128) {
        self.family = family
        high = UInt64(truncatingIfNeeded: bits >> 64)
        low = UInt64(truncatingIfNeeded: bits)
    }

    /// Takes 4 or 16 bytes in network order; returns nil for any other count.
    public init?(bytes: some Collection<UInt8>) {
        let family: Family
        switch bytes.count {
        case 4: family = .v4
        case 16: family = .v6
        default: return nil
        }
        self.init(family: family, bits: bytes.reduce(0) { $0 << 8 | UInt128($1) })
    }

    /// Parses `192.0.2.1` or `2001:db8::1` (RFC 4291 §2.2), without brackets, zone or port. It refuses the shorthands that
    /// some resolvers read as IPv4 (`127.1`, `0x7f000001`, leading zeros).
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        if bytes.contains(ASCII.colon) {
            guard let bits = Self.readV6(bytes) else { return nil }
            self.init(family: .v6, bits: bits)
        } else {
            guard let bits = Self.readV4(bytes[...]) else { return nil }
            self.init(family: .v4, bits: bits)
        }
    }

    /// The 4 or 16 bytes in network order.
    public var bytes: [UInt8] {
        stride(from: family.width - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt128($0)) }
    }

    /// The address with a port: `192.0.2.1:80`, `[2001:db8::1]:80`.
    public func text(withPort port: UInt16) -> String { family == .v6 ? "[\(self)]:\(port)" : "\(self):\(port)" }

    private static func readV4(_ bytes: ArraySlice<UInt8>) -> UInt128? {
        let parts = bytes.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt128 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy(ASCII.isDigit), part.count == 1 || part.first != 0x30
            else { return nil }
            let value = part.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard value < 256 else { return nil }
            bits = bits << 8 | UInt128(value)
        }
        return bits
    }

    private static func readV6(_ bytes: [UInt8]) -> UInt128? {
        // one "::" at most, which stands for all missing zero groups
        var halves: [ArraySlice<UInt8>] = []
        if let gap = bytes.indices.dropLast().first(where: { bytes[$0] == ASCII.colon && bytes[$0 + 1] == ASCII.colon })
        {
            halves = [bytes[..<gap], bytes[(gap + 2)...]]
        } else {
            halves = [bytes[...]]
        }
        var groups: [[UInt16]] = []
        for (index, half) in halves.enumerated() {
            guard let read = readGroups(half, endsAddress: index == halves.count - 1) else { return nil }
            groups.append(read)
        }
        let written = groups.reduce(0) { $0 + $1.count }
        if groups.count == 1 {
            guard written == 8 else { return nil }
        } else {
            guard written < 8 else { return nil }
            groups.insert(Array(repeating: 0, count: 8 - written), at: 1)
        }
        return groups.joined().reduce(0) { $0 << 16 | UInt128($1) }
    }

    /// Reads groups of four hexadecimal digits. The last may be an IPv4 address, which fills two groups.
    private static func readGroups(_ bytes: ArraySlice<UInt8>, endsAddress: Bool) -> [UInt16]? {
        guard !bytes.isEmpty else { return [] }
        let parts = bytes.split(separator: ASCII.colon, omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if endsAddress, index == parts.count - 1, part.contains(0x2E) {
                guard let v4 = readV4(part) else { return nil }
                groups += [UInt16(truncatingIfNeeded: v4 >> 16), UInt16(truncatingIfNeeded: v4)]
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var group: UInt16 = 0
            for byte in part {
                guard let digit = ASCII.hexValue(byte) else { return nil }
                group = group << 4 | UInt16(digit)
            }
            groups.append(group)
        }
        return groups
    }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical text: RFC 5952 for IPv6, without brackets.
    public var description: String {
        guard family == .v6 else { return bytes.map { String($0) }.joined(separator: ".") }
        if unmapped.family == .v4 { return "::ffff:\(unmapped)" }
        let groups = stride(from: 112, through: 0, by: -16).map { UInt16(truncatingIfNeeded: bits >> UInt128($0)) }
        // the longest run of at least two zero groups becomes "::", the first one at a tie
        var longest = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            if index - start > max(longest.count, 1) { longest = start..<index }
            start = index + 1
        }
        func text(_ range: Range<Int>) -> String {
            groups[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return text(0..<8) }
        return "\(text(0..<longest.lowerBound))::\(text(longest.upperBound..<8))"
    }
}
