/// The few forms of DER (X.690) that extensions of certificates are made of.
enum DER {
    static func sequence(_ content: [UInt8]) -> [UInt8] { value(0x30, content) }
    static func octets(_ content: [UInt8]) -> [UInt8] { value(0x04, content) }

    /// A value with any tag: `0x82` for `[2]` of a plain type, `0xA0` for `[0]` of a constructed one.
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}
