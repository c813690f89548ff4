/// Base64 (RFC 4648 §4 and §5).
public enum Base64 {
    private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes with the standard alphabet and padding, or with the URL-safe alphabet without padding.
    public static func encode(_ bytes: some Sequence<UInt8>, urlSafe: Bool = false) -> String {
        var out: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        func digit(_ value: UInt32) -> UInt8 {
            let character = standard[Int(value & 63)]
            guard urlSafe else { return character }
            return character == 0x2B ? 0x2D : character == 0x2F ? 0x5F : character
        }
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 1
            if count == 3 {
                for shift in [18, 12, 6, 0] as [UInt32] { out.append(digit(bits >> shift)) }
                bits = 0
                count = 0
            }
        }
        if count > 0 {
            bits <<= UInt32(8 * (3 - count))
            out.append(digit(bits >> 18))
            out.append(digit(bits >> 12))
            if count == 2 { out.append(digit(bits >> 6)) }
            if !urlSafe { out.append(contentsOf: repeatElement(0x3D, count: 3 - count)) }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Decodes either alphabet, with or without padding. Trailing bits need not be zero, since peers write such text.
    /// Returns nil for any other deviation.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        text.utf8.withContiguousStorageIfAvailable { decode($0) } ?? decode(Array(text.utf8))
    }

    private static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var out: [UInt8] = []
        out.reserveCapacity(text.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        var padding = 0
        for byte in text {
            let value: UInt32
            switch byte {
            case 0x41...0x5A: value = UInt32(byte) - 0x41
            case 0x61...0x7A: value = UInt32(byte) - 0x61 + 26
            case 0x30...0x39: value = UInt32(byte) - 0x30 + 52
            case 0x2B, 0x2D: value = 62
            case 0x2F, 0x5F: value = 63
            case 0x3D:
                padding += 1
                continue
            default: return nil
            }
            guard padding == 0 else { return nil }
            bits = bits << 6 | value
            count += 1
            if count == 4 {
                for shift in [16, 8, 0] as [UInt32] { out.append(UInt8(bits >> shift & 255)) }
                bits = 0
                count = 0
            }
        }
        guard padding <= 2, padding == 0 || (count + padding) == 4 else { return nil }
        switch count {
        case 0: return padding == 0 ? out : nil
        case 2: out.append(UInt8(bits >> 4 & 255))
        case 3: out.append(contentsOf: [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)])
        default: return nil
        }
        return out
    }
}
