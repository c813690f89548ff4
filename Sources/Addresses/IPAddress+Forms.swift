import Formats

/// One machine has many addresses: the forms that a kernel, a translator or a tunnel turns into another address.
extension IPAddress {
    /// An IPv4 address that came in IPv6 clothes (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2) as IPv4; any other unchanged.
    /// Sockets of both families name their IPv4 peers that way, and the kernel connects to it as IPv4.
    public var unmapped: IPAddress {
        guard family == .v6, bits >> 32 == 0xFFFF else { return self }
        return IPAddress(family: .v4, bits: bits & 0xFFFF_FFFF)
    }

    /// `0.0.0.0` and `::`: every address for one that listens, this machine for one that connects.
    public var isUnspecified: Bool { bits == 0 }

    /// Every address that a connection to this one may come to, itself first and unmapped. Whoever forbids one of them
    /// forbids this one.
    public var forms: [IPAddress] {
        let plain = unmapped
        var forms = [plain]
        for inner in plain.family == .v4 ? [] : plain.embedded where !forms.contains(inner) { forms.append(inner) }
        // connecting to the unspecified address reaches this machine
        if plain == Self.unspecified6 { forms.append(IPAddress(family: .v6, bits: 1)) }
        if forms.contains(Self.unspecified4) { forms.append(IPAddress(family: .v4, bits: 0x7F00_0001)) }
        return forms
    }

    private static let unspecified4 = IPAddress(family: .v4, bits: 0)
    private static let unspecified6 = IPAddress(family: .v6, bits: 0)

    /// The IPv4 addresses inside an IPv6 address, by whatever rule it may have been made.
    private var embedded: [IPAddress] {
        var found: [IPAddress] = []
        /// Four bytes behind so many bits.
        func take(at position: Int, _ change: UInt128 = 0) {
            found.append(IPAddress(family: .v4, bits: (bits >> UInt128(96 - position)) & 0xFFFF_FFFF ^ change))
        }
        switch bits >> 32 {
        // IPv4-compatible (RFC 4291 §2.5.5.1); ::1 is no IPv4 address
        case 0 where bits != 1: take(at: 96)
        // IPv4-translated (RFC 7915)
        case 0xFFFF_0000: take(at: 96)
        // translators, by their well-known prefix (RFC 6052 §2.1)
        case 0x0064_FF9B_0000_0000_0000_0000: take(at: 96)
        default: break
        }
        // the prefix for translators of one's own (RFC 8215), in whose /48 any longer prefix may be in use (RFC 6052 §2.2);
        // what would be an address of 0.0.0.0/8 is the prefix of another one
        if bits >> 80 == 0x0064_FF9B_0001 {
            for prefix in [48, 56, 64] { takeAround(prefix, &found) }
            take(at: 96)
        }
        // 6to4 (RFC 3056 §2)
        if bits >> 112 == 0x2002 { take(at: 16) }
        // Teredo (RFC 4380 §4): the server, and the client in disguise
        if bits >> 96 == 0x2001_0000 {
            take(at: 32)
            take(at: 96, 0xFFFF_FFFF)
        }
        // ISATAP (RFC 5214 §6.1): below any prefix
        if [0x0000_5EFE, 0x0200_5EFE].contains((bits >> 32) & 0xFFFF_FFFF) { take(at: 96) }
        return found
    }

    /// The four bytes behind a translator's prefix, which leave out the ninth byte of the address (RFC 6052 §2.2).
    private func takeAround(_ prefix: Int, _ found: inout [IPAddress]) {
        let all = bytes
        let four = all[(prefix / 8)...].enumerated().filter { prefix / 8 + $0.offset != 8 }.prefix(4).map(\.element)
        if four.first != 0, let address = IPAddress(bytes: four) { found.append(address) }
    }

    /// Whether a host is a number that some resolvers take for an address, but no address as it is written here:
    /// `127.1`, `0x7f.1`, `2130706433`, `0177.0.0.1`, `127.0.0.1.`, or one with escapes. Whoever reads it may read another
    /// address than was judged.
    public static func isLookalike(_ host: some StringProtocol) -> Bool {
        guard IPAddress(host) == nil else { return false }
        let bytes = Array(host.utf8)
        if bytes.contains(0x25) { return true }
        guard let last = bytes.split(separator: 0x2E).last.map({ Array($0) }) else { return false }
        if last.allSatisfy(ASCII.isDigit) { return true }
        return last.count >= 2 && last[0] == 0x30 && last[1] | 0x20 == 0x78
            && last.dropFirst(2).allSatisfy { ASCII.hexValue($0) != nil }
    }
}
