/// Byte classes of RFC 9110 and RFC 3986 as bit sets, without a table in memory and without a locale.
public enum ASCII {
    public static let cr: UInt8 = 0x0D
    public static let lf: UInt8 = 0x0A
    public static let space: UInt8 = 0x20
    public static let tab: UInt8 = 0x09
    public static let colon: UInt8 = 0x3A

    @inlinable
    static func member(_ byte: UInt8, _ low: UInt64, _ high: UInt64) -> Bool {
        guard byte < 128 else { return false }
        return byte < 64 ? (low >> UInt64(byte)) & 1 == 1 : (high >> UInt64(byte &- 64)) & 1 == 1
    }

    /// Whether the text contains these bytes, compared one by one.
    public static func contains(_ text: some Collection<UInt8>, _ part: StaticString) -> Bool {
        let found = text.withContiguousStorageIfAvailable { bytes in
            part.withUTF8Buffer { part in
                guard let first = part.first, bytes.count >= part.count else { return part.isEmpty }
                return (0...bytes.count - part.count).contains { start in
                    bytes[start] == first && bytes[start..<start + part.count].elementsEqual(part)
                }
            }
        }
        return found ?? contains(Array(text), part)
    }

    /// Whether the byte is a `tchar` (RFC 9110 §5.6.2).
    @inlinable
    public static func isToken(_ byte: UInt8) -> Bool {
        // ! # $ % & ' * + - . 0-9   |   A-Z ^ _ ` a-z | ~
        member(byte, 0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE)
    }

    /// Whether a field value may contain the byte: HTAB, SP, VCHAR, obs-text (RFC 9110 §5.5).
    @inlinable
    public static func isFieldValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 ? byte != 0x7F : byte == tab
    }

    @inlinable public static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    @inlinable
    public static func isAlpha(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    /// Whether the byte is `unreserved` (RFC 3986 §2.3).
    @inlinable
    public static func isUnreserved(_ byte: UInt8) -> Bool {
        isAlpha(byte) || isDigit(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F || byte == 0x7E
    }

    @inlinable
    public static func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    @inlinable
    public static func hexValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- 0x30 }
        let letter = byte | 0x20
        return letter &- 0x61 < 6 ? letter &- 0x61 &+ 10 : nil
    }

    /// Compares two texts and ignores ASCII case.
    public static func equal(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.elementsEqual(right.utf8) { lower($0) == lower($1) }
    }

    public static func lowercased(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map(lower), as: UTF8.self)
    }
}
