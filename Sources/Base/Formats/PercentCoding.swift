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
        input.withContiguousStorageIfAvailable { decodeBytes($0.span, plusAsSpace) }
            ?? decodeBytes(Array(input).span, plusAsSpace)
    }

    private static func decodeBytes(_ input: Span<UInt8>, _ plusAsSpace: Bool) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(input.count)
        let plus: UInt8 = plusAsSpace ? 0x2B : 0x25
        var start = 0
        while true {
            let end = input.first(start, input.count) { $0.equal(to: 0x25) | $0.equal(to: plus) }
            out.append(input.extracting(start..<end))
            guard end < input.count else { return out }
            start = end + 1
            if input[end] == 0x2B {
                out.append(ASCII.space)
            } else if end + 2 < input.count, let high = ASCII.hexValue(input[end + 1]),
                let low = ASCII.hexValue(input[end + 2])
            {
                out.append(high << 4 | low)
                start = end + 3
            } else {
                out.append(0x25)
            }
        }
    }
}
