public import Formats

/// One event of a `text/event-stream`, as its bytes.
public struct ServerEvent: Sendable {
    public let bytes: [UInt8]

    /// - Parameters:
    ///   - name: its type; nil for `message`.
    ///   - id: what a client that comes back says it has seen last.
    public init(_ name: String? = nil, id: String? = nil, data: JSONValue) {
        var bytes: [UInt8] = []
        if let name { bytes += "event: \(Self.line(name))\n".utf8 }
        if let id { bytes += "id: \(Self.line(id))\n".utf8 }
        bytes += "data: ".utf8
        // JSON has no line break outside of strings here, and none unescaped within
        data.write(to: &bytes)
        bytes += "\n\n".utf8
        self.bytes = bytes
    }

    /// What keeps a quiet stream from being taken for a dead one.
    public static let heartbeat = Array(":\n\n".utf8)

    /// Up to the first line break: what follows one would be a field of its own.
    private static func line(_ text: String) -> String {
        String(decoding: text.utf8.prefix { $0 != 0x0A && $0 != 0x0D && $0 != 0 }, as: UTF8.self)
    }
}
