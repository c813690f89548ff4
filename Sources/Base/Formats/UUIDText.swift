/// UUIDs (RFC 9562).
public enum UUIDText {
    /// Formats 16 random bytes as a version 4 UUID (RFC 9562 §5.4); returns an empty text for fewer.
    public static func random(_ bytes: [UInt8]) -> String {
        guard bytes.count >= 16 else { return "" }
        var octets = bytes.prefix(16).map { $0 }
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        var out: [UInt8] = []
        out.reserveCapacity(36)
        for (index, octet) in octets.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { out.append(0x2D) }
            out.append(ASCII.lower(PercentCoding.hexDigit(octet >> 4)))
            out.append(ASCII.lower(PercentCoding.hexDigit(octet & 15)))
        }
        return String(decoding: out, as: UTF8.self)
    }
}
