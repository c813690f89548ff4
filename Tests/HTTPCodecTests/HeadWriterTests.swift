import HTTPCodec
import Testing

struct HeadWriterTests {
    private func written(_ head: RequestHead, _ forwarding: Forwarding = Forwarding(framing: .none)) -> [String] {
        var out: [UInt8] = []
        head.write(to: &out, forwarding)
        let text = String(decoding: out, as: UTF8.self)
        #expect(text.hasSuffix("\r\n\r\n"))
        return text.split(separator: "\r\n").map(String.init)
    }

    @Test(
        "The target becomes origin form",
        arguments: [
            ("GET http://h/a?b", "GET /a?b HTTP/1.1"), ("GET http://h", "GET / HTTP/1.1"),
            ("GET http://h?q", "GET /?q HTTP/1.1"), ("OPTIONS http://h", "OPTIONS * HTTP/1.1"),
            ("OPTIONS http://h/", "OPTIONS / HTTP/1.1"), ("OPTIONS http://h?q", "OPTIONS /?q HTTP/1.1"),
        ])
    func target(_ line: String, _ expected: String) throws {
        #expect(try written(requestHead("\(line) HTTP/1.1\r\nHost: h\r\n\r\n")).first == expected)
    }

    @Test("Hop-by-hop fields and those that Connection names stay here; the others keep order and spelling")
    func hopByHop() throws {
        var head = try requestHead(
            "GET http://h/ HTTP/1.0\r\nHOST: h\r\nConnection: close, X-a\r\nx-A: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\n"
                + "x-B:  2 \r\nProxy-Authorization: x\r\nX-B: 3\r\nUpgrade: h2c\r\nconnection: HOST, content-length\r\n\r\n"
        )
        try head.fields.removeConnectionFields()
        var forwarding = Forwarding(framing: .none)
        forwarding.via = Array("1.1 usher".utf8)
        forwarding.connection = "keep-alive"
        #expect(
            written(head, forwarding)
                == ["GET / HTTP/1.1", "HOST: h", "x-B: 2", "X-B: 3", "Connection: keep-alive", "Via: 1.1 usher"])
    }

    @Test("The framing is written anew")
    func framing() throws {
        let head = try requestHead(
            "POST http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(written(head, Forwarding(framing: .length(7))).contains("Content-Length: 7"))
        #expect(written(head, Forwarding(framing: .chunked)).contains("Transfer-Encoding: chunked"))
        #expect(!written(head, Forwarding(framing: .chunked)).contains { $0.hasPrefix("Content-Length") })
        #expect(written(head, Forwarding(framing: .none)).contains("Content-Length: 0"))
        var forwarding = Forwarding(framing: .length(5))
        #expect(written(head, forwarding).contains("Expect: 100-continue"))
        forwarding.dropsExpect = true
        #expect(!written(head, forwarding).contains { $0.hasPrefix("Expect") })
        let get = try requestHead("GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(!written(get).contains { $0.hasPrefix("Content-Length") })
    }

    @Test("A length that describes no body is kept for HEAD and 304")
    func response() throws {
        func text(_ status: Int, _ change: (inout Forwarding) -> Void = { _ in }) throws -> String {
            let head = try responseHead("HTTP/1.0 \(status) Fine\r\nContent-Length: 9\r\nConnection: close\r\n\r\n")
            var forwarding = Forwarding(framing: .none)
            change(&forwarding)
            var out: [UInt8] = []
            head.write(to: &out, forwarding)
            return String(decoding: out, as: UTF8.self)
        }
        #expect(try text(200) { $0.keepsLength = true } == "HTTP/1.1 200 Fine\r\nContent-Length: 9\r\n\r\n")
        #expect(try text(200) == "HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n")
        #expect(try text(204) == "HTTP/1.1 204 Fine\r\n\r\n")
        #expect(try text(200) { $0.framing = .untilClose } == "HTTP/1.1 200 Fine\r\n\r\n")
    }

    @Test func numbers() {
        for value in [0, 1, 9, 10, 15, 16, 99, 100, 255, 4096, 65535, UInt64(UInt32.max), .max] {
            var out: [UInt8] = []
            out.append(decimal: value)
            out.append(0x20)
            out.append(hexadecimal: value)
            #expect(String(decoding: out, as: UTF8.self).lowercased() == "\(value) \(String(value, radix: 16))")
        }
    }

    @Test("No chunk is written for no bytes: it would end the body")
    func chunks() {
        var out: [UInt8] = []
        out.append(chunk: [UInt8](repeating: 0x61, count: 17).span)
        out.append(chunk: [UInt8]().span)
        out.appendLastChunk(trailers: Array("A: b\r\n".utf8))
        #expect(
            String(decoding: out, as: UTF8.self) == "11\r\n\(String(repeating: "a", count: 17))\r\n0\r\nA: b\r\n\r\n")
    }
}
