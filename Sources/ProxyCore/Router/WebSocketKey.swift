internal import Formats
internal import HTTPCodec
internal import TLSEngine

/// By which a WebSocket's server shows that it is one. HTTP/1 has it (RFC 6455 §4.1), and HTTP/2 does not (RFC 8441 §5): where a
/// stream becomes an Upgrade, it is made and looked at here, and where an Upgrade becomes a stream, answered.
struct WebSocketKey {
    static let name = "Sec-WebSocket-Key"
    static let answerName = "Sec-WebSocket-Accept"
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    let text: String

    init() {
        var random = SystemRandomNumberGenerator()
        text = Base64.encode((0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &random) })
    }

    /// That of a client's request; nil where it has none.
    init?(of head: borrowing RequestHead) {
        guard let key = head.fields[Self.name] else { return nil }
        text = key
    }

    /// What the server has to answer.
    var answer: String { Base64.encode(Digest.sha1(Array((text + Self.suffix).utf8))) }

    /// A request that came without one, and needs one at an HTTP/1 origin.
    static func isMissing(in head: borrowing RequestHead) -> Bool {
        head.version == .http2 && head.fields[name] == nil
            && head.fields["Upgrade"].map { ASCII.lowercased($0) == "websocket" } == true
    }
}
