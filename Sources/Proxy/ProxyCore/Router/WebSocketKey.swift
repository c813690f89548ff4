internal import Formats
internal import HTTPCodec
internal import TLSEngine

/// The key that proves a WebSocket handshake. HTTP/1 has it (RFC 6455 §4.1), HTTP/2 does not (RFC 8441 §5). If a stream
/// becomes an Upgrade, Usher creates the key and checks the response; if an Upgrade becomes a stream, it adds the response.
struct WebSocketKey {
    static let name = "Sec-WebSocket-Key"
    static let answerName = "Sec-WebSocket-Accept"
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    let text: String

    init() {
        var random = SystemRandomNumberGenerator()
        text = Base64.encode((0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &random) })
    }

    /// The key of a client's request; nil when it has none.
    init?(of head: borrowing RequestHead) {
        guard let key = head.fields[Self.name] else { return nil }
        text = key
    }

    /// The value of Sec-WebSocket-Accept for the key.
    var answer: String { Base64.encode(Digest.sha1(Array((text + Self.suffix).utf8))) }

    /// Whether the request has no key and needs one at an HTTP/1 origin.
    static func isMissing(in head: borrowing RequestHead) -> Bool {
        head.version == .http2 && head.fields[name] == nil
            && head.fields["Upgrade"].map { ASCII.lowercased($0) == "websocket" } == true
    }
}
