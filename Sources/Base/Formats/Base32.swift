/// Base32 (RFC 4648 §6).
public enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Encodes without padding, as secrets of one-time passwords are written.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var out: [UInt8] = []
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                out.append(alphabet[Int(bits >> count & 31)])
            }
        }
        if count > 0 { out.append(alphabet[Int(bits << (5 - count) & 31)]) }
        return String(decoding: out, as: UTF8.self)
    }

    /// Decodes either letter case, with or without padding. It ignores blanks and hyphens, which group characters for
    /// people. Trailing bits need not be zero. Returns nil for any other deviation.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var out: [UInt8] = []
        var bits: UInt64 = 0
        var count = 0
        var isPadded = false
        for byte in text.utf8 {
            let value: UInt64
            switch byte {
            case 0x41...0x5A: value = UInt64(byte) - 0x41
            case 0x61...0x7A: value = UInt64(byte) - 0x61
            case 0x32...0x37: value = UInt64(byte) - 0x32 + 26
            case 0x3D:
                isPadded = true
                continue
            case 0x20, 0x2D: continue
            default: return nil
            }
            guard !isPadded else { return nil }
            bits = bits << 5 | value
            count += 5
            if count >= 8 {
                count -= 8
                out.append(UInt8(truncatingIfNeeded: bits >> UInt64(count)))
            }
        }
        // one, three or six characters of eight encode no whole number of bytes
        return count < 5 ? out : nil
    }
}
