/// Writes DER (X.690 §10): each function returns one value with its tag and length.
enum DER {
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [tag]
        bytes.reserveCapacity(content.count + 6)
        if content.count < 0x80 {
            bytes.append(UInt8(content.count))
        } else {
            let length = withUnsafeBytes(of: content.count.bigEndian) { Array($0.drop { $0 == 0 }) }
            bytes.append(0x80 | UInt8(length.count))
            bytes += length
        }
        bytes += content
        return bytes
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, Array(parts.joined())) }

    static func sequence(_ parts: [[UInt8]]) -> [UInt8] { value(0x30, Array(parts.joined())) }

    static func set(_ content: [UInt8]) -> [UInt8] { value(0x31, content) }

    /// - Parameter content: the arcs, encoded as in X.690 §8.19.
    static func identifier(_ content: [UInt8]) -> [UInt8] { value(0x06, content) }

    static func octets(_ content: [UInt8]) -> [UInt8] { value(0x04, content) }

    /// - Parameter unused: the number of unused bits in the last byte.
    static func bits(_ content: [UInt8], unused: UInt8 = 0) -> [UInt8] { value(0x03, [unused] + content) }

    static func text(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }

    /// A context-specific IMPLICIT or EXPLICIT tag around one or more values.
    static func context(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { value(0xA0 | number, content) }

    static let yes: [UInt8] = [0x01, 0x01, 0xFF]
}
