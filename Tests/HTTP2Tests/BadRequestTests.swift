import HTTP2
import HTTPCodec
import Testing

/// What breaks a request breaks its stream: the caller is told why and answers, and the next one on the connection is served.
@Suite("Requests that break a rule")
struct BadRequestTests {
    typealias Fields = [(String, String)]

    private static func fields(
        method: String? = "GET", scheme: String? = "https", authority: String? = "a.test", path: String? = "/",
        _ more: Fields = []
    ) -> Fields {
        let pseudo = [(":method", method), (":scheme", scheme), (":authority", authority), (":path", path)]
        return pseudo.compactMap { part in part.1.map { (part.0, $0) } } + more
    }

    static let heads: [(HTTPFault.Code, Fields)] = [
        (.upperCaseName, fields([("X-A", "b")])),
        (.badFieldName, fields([("x a", "b")])),
        (.badFieldName, fields([("", "b")])),
        (.badFieldName, fields([("x\r", "b")])),
        (.badFieldName, fields([("x\n", "b")])),
        (.badFieldName, fields([("x\0", "b")])),
        (.badFieldName, fields([("x:y", "b")])),
        (.badFieldName, fields([("x\u{e9}", "b")])),
        (.badFieldValue, fields([("x", "a\r\nb: c")])),
        (.badFieldValue, fields([("x", "a\nb")])),
        (.badFieldValue, fields([("x", "a\0b")])),
        (.badFieldValue, fields([("x", "a\u{1}")])),
        (.badFieldValue, fields([("x", "a\u{7f}")])),
        (.badFieldValue, fields([("x", " a")])),
        (.badFieldValue, fields([("x", "a\t")])),
        (.connectionField, fields([("connection", "x")])),
        (.connectionField, fields([("keep-alive", "5")])),
        (.connectionField, fields([("proxy-connection", "close")])),
        (.connectionField, fields([("transfer-encoding", "chunked")])),
        (.connectionField, fields([("upgrade", "h2c")])),
        (.connectionField, fields([("te", "gzip")])),
        (.connectionField, fields([("te", "trailers, gzip")])),
        (.unknownPseudoField, fields([(":version", "2")])),
        (.unknownPseudoField, fields([(":status", "200")])),
        (.unknownPseudoField, fields([(":", "200")])),
        (.unknownPseudoField, fields([(":Path", "/")])),
        (.repeatedPseudoField, fields([(":path", "/")])),
        (.repeatedPseudoField, fields([(":authority", "a.test")])),
        (.misplacedPseudoField, fields(path: nil, [("x", "y"), (":path", "/")])),
        (.missingPseudoField, fields(method: nil)),
        (.missingPseudoField, fields(scheme: nil)),
        (.missingPseudoField, fields(path: nil)),
        (.missingHost, fields(authority: nil)),
        (.missingPseudoField, [(":method", "CONNECT")]),
        (.badPseudoField, fields(method: "CONNECT")),
        (.badAuthority, fields(method: "CONNECT", scheme: nil, authority: "a.test", path: nil)),
        (.badPseudoField, fields([(":protocol", "websocket")])),
        (.badPseudoField, fields(method: "CONNECT", [(":protocol", "web socket")])),
        (.badPseudoField, fields(method: "CONNECT", [(":protocol", "")])),
        (.missingPseudoField, [(":method", "CONNECT"), (":protocol", "websocket"), (":authority", "a.test")]),
        (.badMethod, fields(method: "")),
        (.badMethod, fields(method: "GE T")),
        (.badMethod, fields(method: "G\u{e9}T")),
        (.unsupportedScheme, fields(scheme: "ftp")),
        (.unsupportedScheme, fields(scheme: "")),
        (.badTarget, fields(path: "")),
        (.badTarget, fields(path: "a")),
        (.badTarget, fields(path: "*")),
        (.badTarget, fields(path: "?q")),
        (.badTarget, fields(path: "http://b.test/")),
        (.badTarget, fields(path: "/#f")),
        (.badTarget, fields(path: "/a b")),
        (.badTarget, fields(path: "/\u{e9}")),
        (.badFieldValue, fields(path: "/\u{7f}")),
        (.badFieldValue, fields(path: "/ HTTP/1.1\r\nX: y")),
        (.targetTooLong, fields(path: "/" + String(repeating: "a", count: 16 << 10))),
        (.userInfoInTarget, fields(authority: "me@a.test")),
        (.userInfoInTarget, fields(authority: "me:secret@a.test")),
        (.badAuthority, fields(authority: "")),
        (.badAuthority, fields(authority: "a.test/b")),
        (.badAuthority, fields(authority: "a.test?b")),
        (.badAuthority, fields(authority: "a.test#b")),
        (.badAuthority, fields(authority: "a.test:0")),
        (.nonASCIIHost, fields(authority: "\u{e9}.test")),
        (.percentInHost, fields(authority: "%61.test")),
        (.badAddress, fields(authority: "[127.0.0.1]")),
        (.hostMismatch, fields([("host", "b.test")])),
        (.hostMismatch, fields([("host", "a.test:80")])),
        (.badHost, fields([("host", "")])),
        (.badHost, fields([("host", "a.test/b")])),
        (.repeatedHost, fields([("host", "a.test"), ("host", "a.test")])),
        (.badContentLength, fields([("content-length", "+1")])),
        (.badContentLength, fields([("content-length", "1, 1")])),
        (.repeatedContentLength, fields([("content-length", "0"), ("content-length", "0")])),
        (.lengthMismatch, fields([("content-length", "1")])),
        (.tooManyFields, fields((0..<129).map { ("x\($0)", "") })),
        (.headTooLarge, fields((0..<4).map { ("x\($0)", String(repeating: "a", count: 9_000)) })),
    ]

    private func block(_ fields: Fields) -> [UInt8] {
        // characters of Latin-1 are bytes
        fields.flatMap {
            Frame.literal($0.0.unicodeScalars.map { UInt8($0.value) }, $0.1.unicodeScalars.map { UInt8($0.value) })
        }
    }

    /// A block in frames of the size that everybody takes.
    private func request(_ stream: UInt32, _ block: [UInt8], end: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = []
        var start = 0
        repeat {
            let next = min(block.count, start + (16 << 10))
            let piece = Array(block[start..<next])
            bytes +=
                start == 0
                ? Frame.headers(stream, piece, end: end, whole: next == block.count)
                : Frame.continuation(stream, piece, whole: next == block.count)
            start = next
        } while start < block.count
        return bytes
    }

    @Test(arguments: heads.indices, [false, true])
    func head(_ index: Int, inPieces: Bool) {
        let (code, fields) = Self.heads[index]
        let talk = ServerTalk()
        let bytes = request(1, block(fields))
        #expect((inPieces ? talk.feedBytes(bytes) : talk.feed(bytes)) == [.broken(1, code)], "\(fields)")
        // it is answered, and nothing else is
        talk.respond(1, 400)
        #expect(talk.frames().filter { $0.stream == 1 }.map(\.kind) == [1, 0, 0])
        let good = request(3, block(Self.fields()))
        #expect(
            talk.feed(good) == [.head(3, "GET https://a.test/\nHost: a.test", .none), .end(3, "")], "\(fields)")
    }

    @Test("The body of such a request goes nowhere, and its window is given back")
    func bodyOfOne() {
        let talk = ServerTalk()
        #expect(talk.feed(request(1, block(Self.fields([("X", "")])), end: false)) == [.broken(1, .upperCaseName)])
        talk.out = []
        for _ in 0..<16 { #expect(talk.feed(Frame.data(1, [UInt8](repeating: 0, count: 4 << 10))) == []) }
        let granted = talk.frames().filter { $0.kind == 8 }
        #expect(granted.contains { $0.stream == 1 })
        talk.respond(1, 400)
        talk.codec.reset(StreamID(1), .complete, to: &talk.out)
        #expect(talk.frames().last?.bytes == Frame.reset(1, 0))
        #expect(talk.feed(Frame.data(1, [1])) == [])
    }

    static let bodies: [(String, HTTPFault.Code, [UInt8])] = [
        ("longer than it said", .lengthMismatch, Frame.data(1, [1, 2, 3])),
        ("longer than it said, and padded", .lengthMismatch, Frame.data(1, [1, 2, 3], padding: 9)),
        ("shorter than it said", .lengthMismatch, Frame.data(1, [1], end: true)),
        ("shorter, with trailers", .lengthMismatch, Frame.headers(1, ["x": "y"], end: true)),
        ("trailers that end nothing", .unfinishedTrailers, Frame.headers(1, ["x": "y"])),
        ("a pseudo-field in trailers", .misplacedPseudoField, Frame.headers(1, [":path": "/"], end: true)),
        ("a length in trailers", .badTrailerField, Frame.headers(1, ["content-length": "2"], end: true)),
        ("credentials in trailers", .badTrailerField, Frame.headers(1, ["authorization": "x"], end: true)),
        ("capitals in trailers", .upperCaseName, Frame.headers(1, ["X": ""], end: true)),
        (
            "large trailers", .trailersTooLarge,
            Frame.headers(1, ["x": String(repeating: "a", count: 1_000)], end: true)
        ),
    ]

    @Test("What breaks a rule behind the head resets the stream", arguments: bodies.indices, [false, true])
    func body(_ index: Int, inPieces: Bool) {
        let (name, code, bytes) = Self.bodies[index]
        let talk = ServerTalk()
        _ = talk.feed(request(1, block(Self.fields(method: "POST", [("content-length", "2")])), end: false))
        _ = talk.frames()
        #expect((inPieces ? talk.feedBytes(bytes) : talk.feed(bytes)) == [.violated(1, code)], "\(name)")
        #expect(talk.frames().map(\.bytes).contains(Frame.reset(1, 1)), "\(name)")
        #expect(talk.feed(request(3, block(Self.fields()))).count == 2, "\(name)")
    }
}
