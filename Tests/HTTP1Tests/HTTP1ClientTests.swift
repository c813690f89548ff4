import HTTP1
import HTTPCodec
import Testing

@Suite("The client's side of a connection")
struct HTTP1ClientTests {
    /// A codec that has sent a request without a body.
    private func codec(_ method: String = "GET", isSent: Bool = true) throws -> HTTP1Client {
        var codec = HTTP1Client()
        var out: [UInt8] = []
        codec.send(try RequestHead(method: method, url: "http://a/"), Forwarding(framing: .none), to: &out)
        if isSent { codec.end(to: &out) }
        #expect(String(decoding: out, as: UTF8.self).hasPrefix("\(method) / HTTP/1.1\r\nHost: a\r\n"))
        return codec
    }

    /// The events of bytes that come in pieces of so many, in words.
    private func events(_ codec: inout HTTP1Client, _ text: String, pieces: Int = .max) throws -> [String] {
        let bytes = Array(text.utf8)
        var found: [String] = []
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(bytes.count, start + min(pieces, bytes.count))])
            start += piece.count
            var position = 0
            loop: while true {
                switch try codec.read(piece.span, &position, limits: HeadLimits(), maxTrailerBytes: 100) {
                case .needsMore: break loop
                case .interim: found.append("interim \(codec.head.status)")
                case .head(let framing): found.append("head \(codec.head.status) \(framing)")
                case .switched:
                    found.append("switched")
                    break loop
                case .data(let range):
                    let text = String(decoding: piece[range], as: UTF8.self)
                    if let last = found.last, last.hasPrefix("data ") {
                        found[found.count - 1] = last + text
                    } else {
                        found.append("data " + text)
                    }
                case .end: found.append("end")
                }
            }
        }
        return found
    }

    /// The event that ends an answer, or says how it will end, is where its connection is lost to others.
    @Test func whenAConnectionBecomesUseless() throws {
        func read(_ text: String, _ count: Int) throws -> (last: ResponseEvent?, isReusable: Bool) {
            var one = try codec()
            let bytes = Array(text.utf8)
            var position = 0
            var last: ResponseEvent?
            for _ in 0..<count {
                last = try one.read(bytes.span, &position, limits: HeadLimits(), maxTrailerBytes: 100)
            }
            return (last, one.isReusable)
        }
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        #expect(try read(whole, 2) == (.end, true))
        #expect(try read(whole + "HTTP", 2) == (.end, false))
        #expect(try read("HTTP/1.1 200 OK\r\n\r\n", 1) == (.head(.untilClose), false))
    }

    @Test(arguments: [1, 2, 5, Int.max])
    func answers(_ pieces: Int) throws {
        var one = try codec()
        #expect(
            try events(
                &one,
                "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                pieces: pieces) == ["interim 103", "head 200 length(5)", "data hello", "end"])
        #expect(one.isReusable && one.hasAnswered)
        one = try codec()
        #expect(
            try events(
                &one, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
                pieces: pieces) == ["head 200 chunked", "data hello", "end"])
        #expect(one.isReusable && one.trailers == Array("A: b\r\n".utf8))
        one = try codec()
        #expect(
            try events(&one, "HTTP/1.1 204 No\r\n\r\n", pieces: pieces) == ["head 204 none", "end"])
        #expect(one.isReusable)
        one = try codec()
        #expect(
            try events(&one, "HTTP/1.0 200 OK\r\n\r\nhello", pieces: pieces)
                == ["head 200 untilClose", "data hello"])
        let isEnd = one.ended(cleanly: true)
        #expect(!one.isReusable && isEnd)
    }

    @Test func anEndIsNoEndOfOthers() throws {
        var one = try codec()
        _ = try events(&one, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
        var isEnd = one.ended(cleanly: true)
        #expect(!isEnd && !one.isReusable)
        one = try codec()
        _ = try events(&one, "HTTP/1.1 200 OK\r\n\r\nhel")
        isEnd = one.ended(cleanly: false)
        #expect(!isEnd)
    }

    @Test func whatMakesAConnectionUseless() throws {
        var one = try codec()
        _ = try events(&one, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        #expect(!one.isReusable)
        // more than the answer
        one = try codec()
        _ = try events(&one, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!")
        #expect(!one.isReusable)
        // an answer before the request was whole
        one = try codec(isSent: false)
        _ = try events(&one, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(!one.isReusable)
        // bytes that nobody asked for
        one = HTTP1Client()
        #expect(one.isReusable)
        #expect(try events(&one, "HTTP/1.1 200 OK\r\n") == [])
        #expect(!one.isReusable)
        // a body that means nothing
        one = HTTP1Client()
        var out: [UInt8] = []
        one.send(try RequestHead(method: "GET", url: "http://a/"), Forwarding(framing: .length(2)), to: &out)
        #expect(!one.isReusable)
        // an answer that breaks HTTP
        one = try codec()
        #expect(throws: HTTPFault.self) { try self.events(&one, "HTTP/1.1 2000 OK\r\n\r\n") }
        #expect(!one.isReusable)
    }

    @Test func headHasNoBody() throws {
        var one = try codec("HEAD")
        #expect(
            try events(&one, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n") == ["head 200 none", "end"])
        #expect(one.isReusable)
    }

    @Test func anotherProtocol() throws {
        var one = try codec()
        #expect(
            try events(&one, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc") == ["switched"])
        #expect(!one.isReusable)
    }

    @Test(arguments: [1, 2, 5, Int.max])
    func tunnels(_ pieces: Int) throws {
        func answered(_ text: String) throws -> [String] {
            var codec = HTTP1Client()
            var out: [UInt8] = []
            codec.connect(to: "a:443", via: Array("1.1 me".utf8), lines: Array("B: c\r\n".utf8), to: &out)
            #expect(
                String(decoding: out, as: UTF8.self)
                    == "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nVia: 1.1 me\r\nB: c\r\n\r\n")
            #expect(codec.hasSent)
            return try events(&codec, text, pieces: pieces)
        }
        // what the answer says of a body counts for nothing
        for framing in ["", "Content-Length: 3\r\n", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"] {
            #expect(
                try answered("HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\n\(framing)\r\n") == ["interim 100", "switched"])
            #expect(try answered("HTTP/1.1 204 No\r\n\(framing)\r\n") == ["switched"])
        }
        #expect(
            try answered("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno") == ["head 403 length(2)", "data no", "end"])
        let twice = "Content-Length: 2\r\nContent-Length: 2\r\n"
        #expect(try answered("HTTP/1.1 403 No\r\n\(twice)\r\n") == ["head 403 untilClose"])
        #expect(try answered("HTTP/1.1 101 No\r\n\(twice)\r\n") == ["switched"])
    }

    @Test func theTunnelBeginsBehindTheHead() throws {
        var codec = HTTP1Client()
        var out: [UInt8] = []
        codec.connect(to: "a:1", via: [], lines: [], to: &out)
        let bytes = Array("HTTP/1.1 200 OK\r\n\r\n220 mail\r\n".utf8)
        var position = 0
        #expect(try codec.read(bytes.span, &position, limits: HeadLimits(), maxTrailerBytes: 0) == .switched)
        #expect(position == 19 && !codec.isReusable)
    }

    @Test func rawBytes() throws {
        var one = try codec()
        #expect(one.rawBody == nil)
        _ = try events(&one, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhell")
        #expect(one.rawBody == 6)
        let isWhole = [one.passed(5), one.passed(1)]
        #expect(isWhole == [false, true])
        #expect(one.rawBody == nil && one.isReusable)
    }
}
