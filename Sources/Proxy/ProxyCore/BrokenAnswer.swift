import Interception

/// The bytes of deliberately invalid responses.
enum BrokenAnswer {
    static func bytes(_ breakage: Breakage, _ chance: inout some RandomNumberGenerator) -> [UInt8] {
        switch breakage {
        case .reset, .empty: []
        case .garbage: garbage(&chance)
        case .malformedStatus: Array("HTTP/1.1 two hundred\r\n\(type)Content-Length: 2\r\n\r\nok".utf8)
        case .malformedHeader:
            Array("HTTP/1.1 200 OK\r\nno field at all\u{0}\r\n\(type)Content-Length: 2\r\n\r\nok".utf8)
        case .malformedLength: Array("HTTP/1.1 200 OK\r\n\(type)Content-Length: two\r\n\r\nok".utf8)
        case .malformedChunk:
            Array("HTTP/1.1 200 OK\r\n\(type)Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\nno chunk\r\n".utf8)
        }
    }

    private static let type = "Content-Type: text/plain\r\n"

    /// Random bytes that begin with a non-text byte, so that no client takes them for an HTTP/0.9 response.
    private static func garbage(_ chance: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = (0..<garbageCount).map { _ in UInt8.random(in: 0 ... .max, using: &chance) }
        bytes[0] |= 0x80
        return bytes
    }

    private static let garbageCount = 256
}
