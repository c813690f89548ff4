import HTTP2
import HTTPCodec
import Testing

@Suite("Requests of an HTTP/2 client")
struct RequestTests {
    private static let get: KeyValuePairs = [
        ":method": "GET", ":scheme": "https", ":authority": "a.test", ":path": "/p?q",
    ]

    @Test("A request is what HTTP/1 gives for it")
    func plain() {
        let talk = ServerTalk()
        #expect(
            talk.feed(Frame.headers(1, Self.get, end: true)) == [
                .head(1, "GET https://a.test/p?q\nHost: a.test", .none), .end(1, ""),
            ])
        let head = talk.codec.head
        #expect(head.version == .http2 && head.method == .get && head.target.form == .absolute)
        #expect(head.host == "a.test" && head.target.port == 443 && head.path == "/p" && head.query == "q")
        #expect(head.url == "https://a.test/p?q")
        var written: [UInt8] = []
        head.write(to: &written, Forwarding(framing: .none))
        #expect(String(decoding: written, as: UTF8.self) == "GET /p?q HTTP/1.1\r\nHost: a.test\r\n\r\n")
    }

    @Test("A body of a length, one without, and trailers; also padded, and in pieces", arguments: [false, true])
    func bodies(inPieces: Bool) {
        let talk = ServerTalk()
        let feed = inPieces ? talk.feedBytes : { talk.feed($0) }
        let post: KeyValuePairs = [":method": "POST", ":scheme": "http", ":authority": "a.test:81", ":path": "/"]
        let bytes =
            Frame.headers(
                1, Frame.block(post) + Frame.block(["content-length": "5", "te": "trailers"]))
            + Frame.data(1, Array("he".utf8), padding: 7) + Frame.data(1, Array("llo".utf8), end: true, padding: 0)
            + Frame.headers(3, post) + Frame.data(3, Array("abc".utf8))
            + Frame.headers(3, ["x-sum": "1", "y": "2"], end: true)
        let line = "POST http://a.test:81/\nHost: a.test:81"
        #expect(
            feed(bytes) == [
                .head(1, line + "\ncontent-length: 5\nte: trailers", .length(5)), .data(1, Array("hello".utf8)),
                .end(1, ""), .head(3, line, .chunked), .data(3, Array("abc".utf8)), .end(3, "x-sum: 1\r\ny: 2\r\n"),
            ])
    }

    @Test("Cookies that come in crumbs stand in one field, wherever they stood")
    func crumbs() {
        let talk = ServerTalk()
        let block =
            Frame.block(Self.get)
            + Frame.block(["cookie": "a=1", "cookie": "b=2", "x": "y", "cookie": "c=3", "z": "", "cookie": "d=4"])
        #expect(
            talk.feed(Frame.headers(1, block, end: true)).first
                == .head(
                    1, "GET https://a.test/p?q\nHost: a.test\ncookie: a=1; b=2; c=3; d=4\nx: y\nz: ", .none))
        let plain = Frame.block(Self.get) + Frame.block(["cookie": "a=1", "cookie": "b=2"])
        #expect(
            talk.feed(Frame.headers(3, plain, end: true)).first
                == .head(3, "GET https://a.test/p?q\nHost: a.test\ncookie: a=1; b=2", .none))
    }

    static let accepted: [(KeyValuePairs<String, String>, String)] = [
        // Host alone, as who has HTTP/1 before it sends it
        ([":method": "GET", ":scheme": "http", ":path": "/", "host": "b.test"], "GET http://b.test/\nhost: b.test"),
        // the same host in another spelling
        (
            [":method": "GET", ":scheme": "http", ":authority": "A.test", ":path": "/", "host": "a.test.:80"],
            "GET http://A.test/\nhost: A.test"
        ),
        (
            [":method": "GET", ":scheme": "http", ":authority": "[::1]", ":path": "/", "host": "[0:0::1]"],
            "GET http://[::1]/\nhost: [::1]"
        ),
        (
            [":method": "OPTIONS", ":scheme": "http", ":authority": "a.test", ":path": "*"],
            "OPTIONS http://a.test\nHost: a.test"
        ),
        ([":method": "CONNECT", ":authority": "a.test:443"], "CONNECT a.test:443\nHost: a.test:443"),
        (
            [
                ":method": "CONNECT", ":protocol": "websocket", ":scheme": "https", ":authority": "a.test",
                ":path": "/chat", "sec-websocket-version": "13",
            ],
            "GET https://a.test/chat\nHost: a.test\nsec-websocket-version: 13\nConnection: Upgrade\nUpgrade: websocket"
        ),
    ]

    @Test(arguments: accepted.indices)
    func forms(_ index: Int) {
        let (fields, expected) = Self.accepted[index]
        let talk = ServerTalk()
        let seen = talk.feed(Frame.headers(1, fields, end: !expected.contains("443") && !expected.contains("chat")))
        guard case .head(1, let head, .none)? = seen.first else {
            Issue.record("\(seen)")
            return
        }
        #expect(head == expected)
    }

    @Test("A tunnel in a stream: its bytes are data, both ways")
    func tunnel() {
        let talk = ServerTalk()
        _ = talk.feed(Frame.headers(1, [":method": "CONNECT", ":authority": "a.test:443"]))
        talk.codec.respond(
            ResponseHead(status: 200, reason: ""), .none, ResponseManner(), on: StreamID(1), to: &talk.out)
        #expect(talk.codec.write([1, 2].span, on: StreamID(1), to: &talk.out))
        #expect(talk.feed(Frame.data(1, [3])) == [.data(1, [3])])
        #expect(talk.feed(Frame.data(1, [], end: true)) == [.end(1, "")])
        talk.codec.end(trailers: [], on: StreamID(1), to: &talk.out)
        let frames = talk.frames().filter { $0.stream == 1 }
        #expect(frames.map(\.kind) == [1, 0, 0] && frames.map { $0.flags & 1 } == [0, 0, 1])
    }
}
