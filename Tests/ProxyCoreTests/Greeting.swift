/// A client's first record of TLS (RFC 8446 §4.1.2), as short as it may be.
enum Greeting {
    static func hello(_ name: String?, protocols: [String] = ["h2", "http/1.1"]) -> [UInt8] {
        var extensions: [UInt8] = []
        if let name {
            let bytes = Array(name.utf8)
            extensions += [0, 0] + sized(sized([0] + sized(bytes)))
        }
        if !protocols.isEmpty {
            let list = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            extensions += [0, 16] + sized(sized(list))
        }
        let body: [UInt8] =
            [3, 3] + [UInt8](repeating: 7, count: 32) + [0] + [0, 2, 0x13, 0x01] + [1, 0] + sized(extensions)
        return [22, 3, 1] + sized([1, 0] + sized(body))
    }

    /// With its length before it, in two bytes.
    private static func sized(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }
}
