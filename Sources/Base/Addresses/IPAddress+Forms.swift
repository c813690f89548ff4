import Formats

/// Forms of an address that a kernel, a translator or a tunnel turns into another address.
extension IPAddress {
    /// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2) as IPv4; any other address unchanged. Dual-stack
    /// sockets report IPv4 peers in this form.
    public var unmapped: IPAddress {
        guard family == .v6, bits >> 32 == 0xFFFF else { return self }
        return IPAddress(family: .v4, bits: bits & 0xFFFF_FFFF)
    }

    /// Whether this is `0.0.0.0` or `::`. A listener takes it for every address; a connection to it reaches this machine.
    public var isUnspecified: Bool { bits == 0 }

    /// All addresses that a connection to this one may reach. The unmapped address itself comes first. A policy that denies
    /// one of them denies this address.
    public var forms: [IPAddress] {
        let plain = unmapped
        var forms = [plain]
        for inner in plain.family == .v4 ? [] : plain.embedded where !forms.contains(inner) { forms.append(inner) }
        // a connection to the unspecified address reaches this machine
        if plain == Self.unspecified6 { forms.append(IPAddress(family: .v6, bits: 1)) }
        if forms.contains(Self.unspecified4) { forms.append(IPAddress(family: .v4, bits: 0x7F00_0001)) }
        return forms
    }

    private static let unspecified4 = IPAddress(family: .v4, bits: 0)
    private static let unspecified6 = IPAddress(family: .v6, bits: 0)

    /// The IPv4 addresses embedded in an IPv6 address, by all known schemes.
    private var embedded: [IPAddress] {
        var found: [IPAddress] = []
        /// Reads four bytes that start at this bit.
        func take(at position: Int, _ change: UInt128 = 0) {
            found.append(IPAddress(family: .v4, bits: (bits >> UInt128(96 - position)) & 0xFFFF_FFFF ^ change))
        }
        switch bits >> 32 {
        // IPv4-compatible (RFC 4291 §2.5.5.1); ::1 is no IPv4 address
        case 0 where bits != 1: take(at: 96)
        // IPv4-translated (RFC 7915)
        case 0xFFFF_0000: take(at: 96)
        // NAT64 with the well-known prefix (RFC 6052 §2.1)
        case 0x0064_FF9B_0000_0000_0000_0000: take(at: 96)
        default: break
        }
        // NAT64 with a local prefix in this /48 (RFC 8215), of any longer length (RFC 6052 §2.2); a result in 0.0.0.0/8
        // means that the prefix has another length
        if bits >> 80 == 0x0064_FF9B_0001 {
            for prefix in [48, 56, 64] { takeAround(prefix, &found) }
            take(at: 96)
        }
        // 6to4 (RFC 3056 §2)
        if bits >> 112 == 0x2002 { take(at: 16) }
        // Teredo (RFC 4380 §4): the server, and the inverted address of the client
        if bits >> 96 == 0x2001_0000 {
            take(at: 32)
            take(at: 96, 0xFFFF_FFFF)
        }
        // ISATAP (RFC 5214 §6.1), below any prefix
        if [0x0000_5EFE, 0x0200_5EFE].contains((bits >> 32) & 0xFFFF_FFFF) { take(at: 96) }
        return found
    }

    /// Reads the four bytes behind a translator's prefix, without the ninth byte of the address (RFC 6052 §2.2).
    private func takeAround(_ prefix: Int, _ found: inout [IPAddress]) {
        let all = bytes
        let four = all[(prefix / 8)...].enumerated().filter { prefix / 8 + $0.offset != 8 }.prefix(4).map(\.element)
        if four.first != 0, let address = IPAddress(bytes: four) { found.append(address) }
    }

    /// Whether a host is a number that some resolvers read as an address, but not in the form that `IPAddress` reads:
    /// `127.1`, `0x7f.1`, `2130706433`, `0177.0.0.1`, `127.0.0.1.`, or one with escapes. The resolver may reach another
    /// address than the policy judged.
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
