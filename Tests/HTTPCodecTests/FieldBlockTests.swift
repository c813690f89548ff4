import HTTPCodec
import Testing

@Suite("Messages that come as fields alone")
struct FieldBlockTests {
    private func block(_ fields: KeyValuePairs<String, String>, _ limits: HeadLimits = HeadLimits()) -> FieldBlock {
        var block = FieldBlock()
        block.begin()
        for (name, value) in fields { block.add(Array(name.utf8).span, Array(value.utf8).span, limits: limits) }
        return block
    }

    private func head(_ fields: KeyValuePairs<String, String>) throws -> RequestHead {
        var block = block(fields)
        var head = RequestHead()
        try block.take(request: &head, limits: HeadLimits())
        return head
    }

    @Test("What is written of such a head is what is written of the head of HTTP/1 that says the same")
    func sameAsHTTP1() throws {
        let fields: KeyValuePairs = [
            ":path": "/a?b=c", ":method": "POST", ":authority": "[2001:DB8::1]:8080", ":scheme": "http",
            "accept": "*/*",
            "cookie": "a=1", "cookie": "b=2", "content-length": "3",
        ]
        let head = try head(fields)
        let text =
            "POST http://[2001:DB8::1]:8080/a?b=c HTTP/1.1\r\nHost: [2001:DB8::1]:8080\r\naccept: */*\r\n"
            + "cookie: a=1; b=2\r\ncontent-length: 3\r\n\r\n"
        var other = RequestHead()
        var parser = HeadParser()
        _ = try parser.parse(Array(text.utf8).span, into: &other, limits: HeadLimits())
        try other.settleHost()
        #expect(head.host == other.host && head.url == other.url && head.targetText == other.targetText)
        #expect(head.fields.lines.map(\.value) == other.fields.lines.map(\.value))
        #expect(try head.framing() == .length(3))
        for absolute in [false, true] {
            var forwarding = Forwarding(framing: .length(3))
            forwarding.absoluteForm = absolute
            var (left, right): ([UInt8], [UInt8]) = ([], [])
            head.write(to: &left, forwarding)
            other.write(to: &right, forwarding)
            #expect(left == right)
        }
        // an edit finds what is there
        var edited = head
        try edited.settleHost()
        try edited.setPathAndQuery("/x")
        edited.fields.set("Cookie", "c=3")
        edited.alignHost()
        #expect(edited.url == "http://[2001:db8::1]:8080/x" && edited.fields.values(named: "cookie") == ["c=3"])
    }

    @Test("An empty crumb leaves no space at the end of the cookies, which HTTP/2 has no value end in")
    func emptyCrumbs() throws {
        for (second, last) in [("", ""), ("b=2", ""), ("", "b=2")] {
            let head = try head([
                ":method": "GET", ":scheme": "http", ":authority": "a.test", ":path": "/", "cookie": "a=1", "x": "y",
                "cookie": second, "z": "", "cookie": last,
            ])
            let whole = second + last
            #expect(head.fields.values(named: "cookie") == [whole.isEmpty ? "a=1" : "a=1; \(whole)"])
        }
    }

    @Test("Buffers go from block to head and back, and nothing of one message is in the next")
    func renewed() throws {
        var block = FieldBlock()
        var head = RequestHead()
        for name in ["one", "another", "x"] {
            block.begin()
            for (key, value) in [
                (":method", "GET"), (":scheme", "http"), (":authority", "\(name).test"), (":path", "/"),
            ] {
                block.add(Array(key.utf8).span, Array(value.utf8).span, limits: HeadLimits())
            }
            try block.take(request: &head, limits: HeadLimits())
            #expect(head.url == "http://\(name).test/" && head.fields.lines.count == 1)
        }
    }

    @Test("Limits are those of a head of HTTP/1")
    func limits() {
        // the four bytes are what a line has beside name and value
        var one = block(["abc": "def"], HeadLimits(bytes: 10))
        #expect(one.fault == nil && one.size == 10)
        one = block(["abc": "defg"], HeadLimits(bytes: 10))
        #expect(one.fault?.code == .headTooLarge && one.size == 11)
        #expect(block(["a": "", "b": ""], HeadLimits(fields: 1)).fault?.code == .tooManyFields)
        #expect(block([":path": "/", ":method": "GET", "b": ""], HeadLimits(fields: 1)).fault == nil)
    }

    @Test("A response, and what becomes of one that switches")
    func response() throws {
        var one = block([":status": "200", "set-cookie": "a=1", "cookie": "a", "x": "", "cookie": "b"])
        var head = ResponseHead()
        try one.take(response: &head)
        #expect(head.status == 200 && head.reason == "OK" && head.version == .http2)
        #expect(head.fields.values(named: "cookie") == ["a; b"])
        var parsed = ResponseHead()
        #expect(throws: HTTPFault.self) {
            var bad = block([":status": "0x1"])
            try bad.take(response: &parsed)
        }
        head.becomeSwitch(to: "websocket")
        #expect(head.status == 101 && head.fields["upgrade"] == "websocket" && !head.isInterim)
    }

    @Test("Trailers are those of a chunked body")
    func trailers() throws {
        var one = block(["a": "b", "c": ""])
        var trailers: [UInt8] = [1]
        try one.take(trailers: &trailers)
        #expect(trailers == Array("a: b\r\nc: \r\n".utf8))
        for (name, code) in [("authorization", HTTPFault.Code.badTrailerField), (":status", .misplacedPseudoField)] {
            var bad = block([name: "200"])
            let fault = #expect(throws: HTTPFault.self) { try bad.take(trailers: &trailers) }
            #expect(fault?.code == code)
        }
    }

    @Test("What HTTP/2 has as HTTP/1.1 and not as HTTP/1.0")
    func version() throws {
        let head = try head([
            ":method": "GET", ":scheme": "http", ":authority": "a.test", ":path": "/", "expect": "100-continue",
        ])
        #expect(head.version == .http2 && head.expectsContinue && head.keepsAlive)
        let upgrade = try self.head([
            ":method": "CONNECT", ":scheme": "http", ":authority": "a.test", ":path": "/", ":protocol": "websocket",
        ])
        #expect(upgrade.asksForUpgrade && upgrade.method == .get)
    }
}
