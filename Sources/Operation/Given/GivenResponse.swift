import Formats
import HTTPCodec
import ProxyCore

/// A response as somebody wrote it down, made into what an origin would send.
struct GivenResponse {
    private(set) var message: [UInt8]
    let head: ResponseHead
    let body: [UInt8]

    /// - Parameters:
    ///   - text: an HTTP message, lines ended by CRLF or LF, such as `curl -i` prints.
    ///   - request: what it answers.
    init(_ text: [UInt8], to request: RequestHead) throws(Explanation.Fault) {
        var given = Self.final(text)
        // what curl prints was taken out of its framing, and a message that was copied may have lost some of its body
        if DryResponse(reading: given.bytes, to: request)?.isWhole != true {
            given.remove("transfer-encoding")
            given.setLength()
        }
        guard let read = DryResponse(reading: given.bytes, to: request) else {
            throw Explanation.Fault(
                description: "this is no HTTP response; it begins with a line such as HTTP/1.1 200 OK")
        }
        message = given.bytes
        head = read.head
        body = read.body
    }

    /// Without the heads that a client prints before it: interim ones, and what a proxy said of a tunnel.
    private static func final(_ text: [UInt8]) -> GivenMessage {
        var given = GivenMessage(text.drop { $0 <= ASCII.space })
        while given.body.starts(with: "HTTP/".utf8), !given.lines.contains(where: isLength) {
            given = GivenMessage(given.body)
        }
        if !given.lines.contains(where: isLength) { given.dropBlankBody() }
        // a start line of HTTP/2, as clients print it
        if let line = given.lines.first, line.starts(with: "HTTP/2".utf8) || line.starts(with: "HTTP/3".utf8) {
            let rest = line.drop { $0 != ASCII.space }
            given.lines[0] = Array("HTTP/1.1".utf8) + rest
        }
        return given
    }

    private static func isLength(_ line: [UInt8]) -> Bool {
        let name = line.prefix { $0 != ASCII.colon }
        return ["content-length", "transfer-encoding"].contains {
            ASCII.equal(String(decoding: name, as: UTF8.self), $0)
        }
    }
}
