import HTTPCodec
import TestInputs
import Testing

struct ResponseHeadTests {
    @Test func statusLine() throws {
        let head = try responseHead("HTTP/1.1 404 Not  Found\r\nServer: x\r\nContent-Length: 0\r\n\r\n")
        #expect(head.status == 404)
        #expect(head.reason == "Not  Found")
        #expect(head.version == .http11)
        #expect(head.fields["server"] == "x")
    }

    @Test("An empty reason may lack its space", arguments: ["HTTP/1.0 200\r\n\r\n", "HTTP/1.0 200 \r\n\r\n"])
    func emptyReason(_ text: String) throws {
        let head = try responseHead(text)
        #expect(head.status == 200)
        #expect(head.reason == "")
        #expect(head.version == .http10)
    }

    @Test(arguments: [
        ("HTTP/1.1 20\r\n\r\n", HTTPFault.Code.badStatusLine), ("HTTP/1.1 2000\r\n\r\n", .badStatusLine),
        ("HTTP/1.1 2x0 OK\r\n\r\n", .badStatusLine), ("HTTP/1.1 099 OK\r\n\r\n", .badStatusLine),
        ("HTTP/1.1 600 OK\r\n\r\n", .badStatusLine), ("HTTP/1.1\t200 OK\r\n\r\n", .badStatusLine),
        ("HTTP/2.0 200 OK\r\n\r\n", .badVersion), ("ICY 200 OK for you\r\n\r\n", .badVersion),
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", .badStatusLine), ("HTTP/1.1 200 OK\n\n", .bareLineFeed),
    ])
    func faults(_ text: String, _ code: HTTPFault.Code) {
        #expect(
            faultCode { () throws(HTTPFault) in
                var parser = HeadParser()
                var head = ResponseHead()
                _ = try parser.parse(Array(text.utf8).span, into: &head, limits: HeadLimits())
            } == code)
    }

    @Test("A response reads the same in any pieces")
    func splits() throws {
        let text =
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d; Path=/\r\nTransfer-Encoding: chunked\r\n\r\n5"
        let bytes = Array(text.utf8)
        for cuts in Pieces.cuts(bytes.count) {
            var parser = HeadParser()
            var head = ResponseHead()
            var consumed: Int?
            for end in cuts where consumed == nil {
                consumed = try parser.parse(bytes.span.extracting(first: end), into: &head, limits: HeadLimits())
            }
            #expect(consumed == bytes.count - 1)
            #expect(head.status == 200)
            #expect(head.fields.values(named: "set-cookie") == ["a=b", "c=d; Path=/"])
        }
    }

    @Test func interim() {
        #expect(ResponseHead(status: 100, reason: "Continue").isInterim)
        #expect(ResponseHead(status: 103, reason: "Early Hints").isInterim)
        #expect(!ResponseHead(status: 101, reason: "Switching Protocols").isInterim)
        #expect(!ResponseHead(status: 200, reason: "OK").isInterim)
    }

    @Test func madeHere() {
        var head = ResponseHead(status: 502, reason: "Bad Gateway")
        #expect(head.reason == "Bad Gateway")
        head.fields.add("Proxy-Status", "usher")
        head.setStatus(504, reason: "Gateway Timeout")
        #expect(head.status == 504)
        #expect(head.reason == "Gateway Timeout")
        #expect(head.fields["proxy-status"] == "usher")
    }
}
