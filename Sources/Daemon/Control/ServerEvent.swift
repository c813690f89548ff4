public import Formats

/// One event of a `text/event-stream`, encoded.
public struct ServerEvent: Sendable {
    public let bytes: [UInt8]

    /// - Parameters:
    /// - name: the type; nil for `message`.
    /// - id: the id that a client sends when it reconnects.
    public init(_ name: String? = nil, id: String? = nil, data: JSONValue) {
        var bytes: [UInt8] = []
        if let name { bytes += "event: \(Self.line(name))\n".utf8 }
        if let id { bytes += "id: \(Self.line(id))\n".utf8 }
        bytes += "data: ".utf8
        // the JSON is written without raw line breaks
        data.write(to: &bytes)
        bytes += "\n\n".utf8
        self.bytes = bytes
    }

    /// A comment that keeps a quiet stream alive.
    public static let heartbeat = Array(":\n\n".utf8)

    /// The text up to the first line break, which would start another field.
    private static func line(_ text: String) -> String {
        String(decoding: text.utf8.prefix { $0 != 0x0A && $0 != 0x0D && $0 != 0 }, as: UTF8.self)
    }
}
