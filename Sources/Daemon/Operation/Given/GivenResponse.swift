import Formats
import HTTPCodec
import ProxyCore

/// A response given as text, converted into the form that an origin sends.
struct GivenResponse {
    private(set) var message: [UInt8]
    let head: ResponseHead
    let body: [UInt8]

    /// - Parameters:
    ///   - text: an HTTP message with CRLF or LF, such as the output of `curl -i`.
    ///   - request: the request that it answers.
    init(_ text: [UInt8], to request: RequestHead) throws(Explanation.Fault) {
        var given = Self.final(text)
        // curl removes the framing from its output, and a copied message may lack a part of its body
        if DryResponse(reading: given.bytes, to: request)?.isWhole != true {
            given.remove("transfer-encoding")
            given.setLength()
        }
        guard let read = DryResponse(reading: given.bytes, to: request) else {
            throw Explanation.Fault(
                description: "not an HTTP response; start it with a line such as HTTP/1.1 200 OK")
        }
        message = given.bytes
        head = read.head
        body = read.body
    }

    /// Removes preceding heads that a client prints: interim responses, and the proxy's response to CONNECT.
    private static func final(_ text: [UInt8]) -> GivenMessage {
        var given = GivenMessage(text.drop { $0 <= ASCII.space })
        while given.body.starts(with: "HTTP/".utf8), !given.lines.contains(where: isLength) {
            given = GivenMessage(given.body)
        }
        if !given.lines.contains(where: isLength) { given.dropBlankBody() }
        // an HTTP/2 start line, as clients print it
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
