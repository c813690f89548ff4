import HTTP2
import HTTPCodec
import Testing

@Suite("Responses of an HTTP/2 server")
struct ResponseTests {
    @Test("A response is what HTTP/1 gives for it: interim heads, a body, trailers")
    func plain() throws {
        let talk = ClientTalk()
        #expect(try talk.ask() == 1)
        let bytes =
            Frame.headers(1, [":status": "103", "link": "</a>"])
            + Frame.headers(1, [":status": "200", "content-length": "3", "set-cookie": "a=1", "set-cookie": "b=2"])
            + Frame.data(1, Array("abc".utf8)) + Frame.headers(1, ["x-sum": "1"], end: true)
        #expect(
            talk.feed(bytes) == [
                .interim(1, "103 \nlink: </a>"),
                .head(1, "200 OK\ncontent-length: 3\nset-cookie: a=1\nset-cookie: b=2", .length(3)),
                .data(1, Array("abc".utf8)), .end(1, "x-sum: 1\r\n"),
            ])
        #expect(talk.codec.head.version == .http2)
    }

    static let framings: [(String, KeyValuePairs<String, String>, Bool, BodyFraming)] = [
        ("GET", [":status": "200"], false, .chunked),
        ("GET", [":status": "200"], true, .none),
        ("GET", [":status": "200", "content-length": "0"], true, .none),
        ("GET", [":status": "200", "content-length": "0"], false, .length(0)),
        ("HEAD", [":status": "200", "content-length": "9"], true, .none),
        ("HEAD", [":status": "200", "content-length": "0"], false, .none),
        ("GET", [":status": "304", "content-length": "9"], true, .none),
        ("GET", [":status": "204"], true, .none),
        ("HEAD", [":status": "200"], false, .none),
    ]

    @Test(arguments: framings.indices)
    func framing(_ index: Int) throws {
        let (method, fields, ends, expected) = Self.framings[index]
        let talk = ClientTalk()
        try talk.ask(method)
        var seen = talk.feed(Frame.headers(1, fields, end: ends))
        if !ends { seen += talk.feed(Frame.data(1, [], end: true)) }
        guard case .head(1, _, expected)? = seen.first else {
            Issue.record("\(seen)")
            return
        }
        #expect(seen.count == 2 && seen.last == .end(1, ""))
    }

    static let bad: [(HTTPFault.Code, String, [UInt8])] = [
        (.missingPseudoField, "GET", Frame.headers(1, ["x": "y"])),
        (.unknownPseudoField, "GET", Frame.headers(1, [":status": "200", ":path": "/"])),
        (.repeatedPseudoField, "GET", Frame.headers(1, [":status": "200", ":status": "200"])),
        (.misplacedPseudoField, "GET", Frame.headers(1, ["x": "y", ":status": "200"])),
        (.badStatusLine, "GET", Frame.headers(1, [":status": "20"])),
        (.badStatusLine, "GET", Frame.headers(1, [":status": "+20"])),
        (.badStatusLine, "GET", Frame.headers(1, [":status": "600"])),
        (.badStatusLine, "GET", Frame.headers(1, [":status": "101"])),
        (.upperCaseName, "GET", Frame.headers(1, [":status": "200", "X": "y"])),
        (.badFieldValue, "GET", Frame.headers(1, [":status": "200", "x": "a\r\nb"])),
        (.connectionField, "GET", Frame.headers(1, [":status": "200", "transfer-encoding": "chunked"])),
        (.bodyNotAllowed, "GET", Frame.headers(1, [":status": "103"], end: true)),
        (.bodyNotAllowed, "GET", Frame.headers(1, [":status": "204", "content-length": "1"])),
        (.badContentLength, "GET", Frame.headers(1, [":status": "200", "content-length": "x"])),
        (.lengthMismatch, "GET", Frame.headers(1, [":status": "200", "content-length": "1"], end: true)),
        (.lengthMismatch, "GET", Frame.headers(1, [":status": "200", "content-length": "1"]) + Frame.data(1, [1, 2])),
        (
            .lengthMismatch, "GET",
            Frame.headers(1, [":status": "200", "content-length": "1"]) + Frame.data(1, [], end: true)
        ),
        (.lengthMismatch, "HEAD", Frame.headers(1, [":status": "200"]) + Frame.data(1, [1])),
        (.lengthMismatch, "GET", Frame.headers(1, [":status": "304"]) + Frame.data(1, [1])),
        (.bodyWithoutHead, "GET", Frame.data(1, [1])),
        (.closedStream, "POST", Frame.headers(1, [":status": "200"], end: true) + Frame.data(1, [1])),
        (.unfinishedTrailers, "GET", Frame.headers(1, [":status": "200"]) + Frame.headers(1, ["x": "y"])),
        (.badTrailerField, "GET", Frame.headers(1, [":status": "200"]) + Frame.headers(1, ["host": "a"], end: true)),
    ]

    @Test("What breaks a response breaks its stream alone", arguments: bad.indices)
    func breaks(_ index: Int) throws {
        let (code, method, bytes) = Self.bad[index]
        let talk = ClientTalk()
        let forwarding = Forwarding(framing: method == "POST" ? .chunked : .none)
        try talk.ask(method, "http://a.test/", [:], forwarding)
        try talk.ask()
        _ = talk.frames()
        #expect(talk.feed(bytes).last == .broken(1, code))
        let resets = talk.frames().filter { $0.kind == 3 }
        #expect(resets.map(\.bytes) == [Frame.reset(1, code == .closedStream ? 5 : 1)])
        #expect(talk.feed(Frame.headers(3, [":status": "200"], end: true)).count == 2)
    }

    @Test("A request as it goes out")
    func request() throws {
        let client = ClientTalk()
        let server = ServerTalk(begins: false)
        var forwarding = Forwarding(framing: .chunked)
        forwarding.via = Array("1.1 x".utf8)
        forwarding.lines = Array("Forwarded: for=a\r\nX-B:  c \r\n".utf8)
        forwarding.dropsExpect = true
        try client.ask(
            "POST", "http://a.test:81?q",
            [
                "X-A": "b", "Connection": "keep-alive", "Keep-Alive": "5", "TE": "trailers, deflate",
                "Content-Length": "5",
                "Expect": "100-continue", "Proxy-Authorization": "Basic x", "Transfer-Encoding": "chunked",
                "Cookie": "a=1",
            ], forwarding)
        #expect(
            server.feed(client.out) == [
                .head(
                    1,
                    "POST http://a.test:81/?q\nHost: a.test:81\nx-a: b\nte: trailers\ncookie: a=1\nvia: 1.1 x\nforwarded: for=a\n"
                        + "x-b: c", .chunked)
            ])
        client.out = []
        try client.ask("OPTIONS", "http://a.test")
        try client.ask("PUT", "https://a.test/")
        var head = try RequestHead(method: "GET", url: "http://a.test/")
        head.fields.set("Host", "b.test")
        let stream = try #require(client.codec.begin())
        client.codec.send(head, Forwarding(framing: .none), on: stream, to: &client.out)
        #expect(
            server.feed(client.out) == [
                .head(3, "OPTIONS http://a.test\nHost: a.test", .none), .end(3, ""),
                .head(5, "PUT https://a.test/\nHost: a.test\ncontent-length: 0", .none), .end(5, ""),
                .head(7, "GET http://b.test/\nHost: b.test", .none), .end(7, ""),
            ])
    }

    @Test("A response as it goes out")
    func response() throws {
        let (client, server) = (ClientTalk(nil), ServerTalk(begins: false))
        for method in ["GET", "HEAD", "GET", "GET"] { try client.ask(method) }
        #expect(server.feed(client.out).count == 8)
        var early = ResponseHead(status: 103, reason: "Early Hints")
        early.fields.add("Link", "</a>")
        server.codec.interim(early, via: Array("1.1 o".utf8), on: StreamID(1), to: &server.out)
        var head = ResponseHead(status: 200, reason: "Fine")
        head.fields.add("Connection", "close")
        head.fields.add("Content-Length", "5")
        head.fields.add("Transfer-Encoding", "chunked")
        head.fields.add("Proxy-Authenticate", "Basic")
        head.fields.add("Set-Cookie", "a=1")
        var manner = ResponseManner()
        manner.via = Array("1.1 u".utf8)
        manner.date = Array("now".utf8)
        server.codec.respond(head, .untilClose, manner, on: StreamID(1), to: &server.out)
        #expect(server.codec.write([1, 2].span, on: StreamID(1), to: &server.out))
        server.codec.end(trailers: Array("X-Sum: 1\r\n".utf8), on: StreamID(1), to: &server.out)
        server.codec.respond(head, .length(5), ResponseManner(), on: StreamID(3), to: &server.out)
        #expect(!server.codec.write([1].span, on: StreamID(3), to: &server.out))
        server.codec.end(trailers: [], on: StreamID(3), to: &server.out)
        server.codec.respond(
            ResponseHead(status: 204, reason: ""), .length(0), ResponseManner(), on: StreamID(5), to: &server.out)
        var own = ResponseHead(status: 407, reason: "")
        own.fields.add("Proxy-Authenticate", "Basic")
        manner = ResponseManner()
        manner.isOwn = true
        server.codec.respond(own, .none, manner, on: StreamID(7), to: &server.out)
        #expect(
            client.feed(server.out) == [
                .interim(1, "103 \nlink: </a>\nvia: 1.1 o"),
                .head(1, "200 OK\nset-cookie: a=1\nvia: 1.1 u\ndate: now", .chunked), .data(1, [1, 2]),
                .end(1, "x-sum: 1\r\n"),
                .head(2, "200 OK\ncontent-length: 5\nset-cookie: a=1", .none), .end(2, ""),
                .head(3, "204 No Content", .none), .end(3, ""),
                .head(4, "407 Proxy Authentication Required\nproxy-authenticate: Basic\ncontent-length: 0", .none),
                .end(4, ""),
            ])
    }
}
