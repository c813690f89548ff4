/// Percent-encoding (RFC 3986 §2.1) and its variant for forms (application/x-www-form-urlencoded).
public enum PercentCoding {
    @inlinable
    public static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x41 &+ value &- 10 }

    /// Encodes all characters but unreserved ones.
    public static func encode(_ text: some StringProtocol) -> String {
        var out: [UInt8] = []
        out.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if ASCII.isUnreserved(byte) {
                out.append(byte)
            } else {
                out.append(0x25)
                out.append(hexDigit(byte >> 4))
                out.append(hexDigit(byte & 15))
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Decodes `%XX`; a broken escape is kept. With `plusAsSpace`, `+` becomes a space, as in forms and queries. Bytes that
    /// are not UTF-8 become U+FFFD.
    public static func decode(_ text: some StringProtocol, plusAsSpace: Bool = false) -> String {
        String(decoding: decodeBytes(text.utf8, plusAsSpace: plusAsSpace), as: UTF8.self)
    }

    public static func decodeBytes(_ input: some Collection<UInt8>, plusAsSpace: Bool) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(input.count)
        var index = input.startIndex
        while index != input.endIndex {
            let byte = input[index]
            let next = input.index(after: index)
            if byte == 0x25, let second = input.index(next, offsetBy: 1, limitedBy: input.endIndex),
                second != input.endIndex, let high = ASCII.hexValue(input[next]),
                let low = ASCII.hexValue(input[second])
            {
                out.append(high << 4 | low)
                index = input.index(after: second)
                continue
            }
            out.append(plusAsSpace && byte == 0x2B ? 0x20 : byte)
            index = next
        }
        return out
    }
}
