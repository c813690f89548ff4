import HTTPCodec
import Testing

struct FramingTests {
    private func request(_ fields: [String], version: String = "1.1") throws -> RequestHead {
        try requestHead("POST http://h/ HTTP/\(version)\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
    }

    private func response(_ status: Int, _ fields: [String], version: String = "1.1") throws -> ResponseHead {
        try responseHead("HTTP/\(version) \(status) X\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
    }

    @Test(
        arguments: [
            ([], BodyFraming.none), (["Content-Length: 0"], .none), (["Content-Length: 12"], .length(12)),
            (["content-length: 9223372036854775807"], .length(9_223_372_036_854_775_807)),
            (["Transfer-Encoding: chunked"], .chunked), (["transfer-encoding: Chunked"], .chunked),
        ] as [([String], BodyFraming)])
    func requestBody(_ fields: [String], _ framing: BodyFraming) throws {
        #expect(try request(fields).framing() == framing)
    }

    @Test(arguments: [
        (["Content-Length: "], HTTPFault.Code.badContentLength), (["Content-Length: +1"], .badContentLength),
        (["Content-Length: -1"], .badContentLength), (["Content-Length: 1, 1"], .badContentLength),
        (["Content-Length: 0x1"], .badContentLength), (["Content-Length: 1 1"], .badContentLength),
        (["Content-Length: 99999999999999999999"], .badContentLength),
        (["Content-Length: 9223372036854775808"], .badContentLength),
        (["Content-Length: 1", "Content-Length: 1"], .repeatedContentLength),
        (["Content-Length: 1", "Transfer-Encoding: chunked"], .lengthWithTransferEncoding),
        (["Transfer-Encoding: chunked", "content-length: 0"], .lengthWithTransferEncoding),
        (["Transfer-Encoding: gzip, chunked"], .unknownTransferCoding),
        (["Transfer-Encoding: chunked, chunked"], .unknownTransferCoding),
        (["Transfer-Encoding: identity"], .unknownTransferCoding),
        (["Transfer-Encoding: chunked;q=1"], .unknownTransferCoding), (["Transfer-Encoding:"], .unknownTransferCoding),
        (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], .repeatedTransferEncoding),
    ])
    func ambiguousRequest(_ fields: [String], _ code: HTTPFault.Code) throws {
        let head = try request(fields)
        #expect(faultCode { () throws(HTTPFault) in _ = try head.framing() } == code)
    }

    @Test func transferEncodingInHTTP10() throws {
        let request = try request(["Transfer-Encoding: chunked"], version: "1.0")
        #expect(faultCode { () throws(HTTPFault) in _ = try request.framing() } == .transferEncodingInHTTP10)
        let response = try response(200, ["Transfer-Encoding: chunked"], version: "1.0")
        #expect(
            faultCode { () throws(HTTPFault) in _ = try response.framing(answering: .get) } == .transferEncodingInHTTP10
        )
    }

    @Test(
        arguments: [
            (200, ["Content-Length: 5"], Method.get, BodyFraming.length(5)), (200, ["Content-Length: 0"], .get, .none),
            (200, [], .get, .untilClose), (200, ["Transfer-Encoding: chunked"], .post, .chunked),
            (200, ["Content-Length: 5"], .head, .none), (200, ["Transfer-Encoding: chunked"], .head, .none),
            (304, ["Content-Length: 5"], .get, .none), (204, [], .get, .none),
            (204, ["Content-Length: 0"], .get, .none),
            (100, [], .post, .none), (404, ["Content-Length: 1"], .delete, .length(1)),
        ] as [(Int, [String], Method, BodyFraming)])
    func responseBody(_ status: Int, _ fields: [String], _ method: Method, _ framing: BodyFraming) throws {
        #expect(try response(status, fields).framing(answering: method) == framing)
    }

    @Test(arguments: [
        (204, ["Content-Length: 5"]), (204, ["Transfer-Encoding: chunked"]), (100, ["Content-Length: 1"]),
        (101, ["Transfer-Encoding: chunked"]),
    ])
    func bodyWhereNoneMayBe(_ status: Int, _ fields: [String]) throws {
        let head = try response(status, fields)
        #expect(faultCode { () throws(HTTPFault) in _ = try head.framing(answering: .get) } == .bodyNotAllowed)
    }

    @Test func announcedLength() throws {
        #expect(try request(["Content-Length: 0"]).announcesLength)
        #expect(try !request([]).announcesLength)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", HTTPFault.Code.missingHost), ("GET / HTTP/1.0\r\n\r\n", .missingHost),
        ("GET http://h/ HTTP/1.1\r\n\r\n", .missingHost),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .repeatedHost),
        ("GET http://h/ HTTP/1.1\r\nhost: h\r\nHOST: h\r\n\r\n", .repeatedHost),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", .badHost), ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .badHost), ("GET / HTTP/1.1\r\nHost: u@h\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: h:port\r\n\r\n", .badHost), ("GET / HTTP/1.1\r\nHost: h/path\r\n\r\n", .badHost),
        ("GET http://h/ HTTP/1.1\r\nHost: /\r\n\r\n", .badHost), ("GET / HTTP/1.1\r\nHost: a..b\r\n\r\n", .emptyLabel),
        ("GET / HTTP/1.1\r\nHost: [127.0.0.1]\r\n\r\n", .badAddress),
        ("GET http://h/ HTTP/1.1\r\nHost: %68\r\n\r\n", .percentInHost),
    ])
    func hostFaults(_ text: String, _ code: HTTPFault.Code) throws {
        var head = try requestHead(text)
        #expect(faultCode { () throws(HTTPFault) in try head.settleHost() } == code)
    }

    @Test("HTTP/1.0 needs no Host where the target names it")
    func oldRequestWithoutHost() throws {
        var head = try requestHead("GET http://h:81/ HTTP/1.0\r\n\r\n")
        try head.settleHost()
        #expect(head.host == "h")
        #expect(head.target.port == 81)
    }

    @Test("The target's own authority wins over Host")
    func targetWins() throws {
        var head = try requestHead("GET http://right/ HTTP/1.1\r\nHost: wrong\r\n\r\n")
        try head.settleHost()
        #expect(head.host == "right")
    }

    @Test(arguments: [
        ("1.1", [], true), ("1.1", ["Connection: close"], false), ("1.1", ["Connection: foo, Close"], false),
        ("1.1", ["Connection: foo", "Connection: close"], false), ("1.1", ["Proxy-Connection: close"], false),
        ("1.0", [], false), ("1.0", ["Connection: keep-alive"], true), ("1.0", ["Proxy-Connection: Keep-Alive"], true),
        ("1.0", ["Connection: keep-alive, close"], false), ("1.1", ["Connection: closed"], true),
    ])
    func keepAlive(_ version: String, _ fields: [String], _ keeps: Bool) throws {
        #expect(try request(fields, version: version).keepsAlive == keeps)
        #expect(try response(200, fields, version: version).keepsAlive == keeps)
    }

    @Test func lists() throws {
        let head = try request(["Connection: ,a , keep-alive\t,, B"])
        let index = try #require(head.fields.first(.connection))
        let range = head.fields.slots[index].value
        #expect(head.fields.listContains(range, "a"))
        #expect(head.fields.listContains(range, "keep-alive"))
        #expect(head.fields.listContains(range, "b"))
        #expect(!head.fields.listContains(range, "keep"))
        #expect(!head.fields.listContains(range, "c"))
    }
}
