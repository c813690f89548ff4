import Formats
import HTTPCodec
import TestInputs
import Testing

struct RequestHeadTests {
    static let good = [
        "GET http://example.com/a/b?c=d HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n\r\n",
        "POST http://example.com:8080 HTTP/1.1\r\nhost:example.com:8080\r\nContent-Length:\t 3 \t\r\nX:\r\n\r\nabc",
        "CONNECT [::1]:8443 HTTP/1.1\r\nHost: [::1]:8443\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\nnext",
        "\r\nOPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
        "PROPFIND http://h/%7Ea?x#".dropLast()
            + " HTTP/1.1\r\nHost: h\r\nX-Latin: \u{E9}t\u{E9}\r\nX: a\r\nX: b\r\n\r\n",
    ]

    @Test("A head reads the same whole, byte by byte and in any pieces", arguments: good)
    func splits(_ text: String) throws {
        let bytes = Array(text.utf8)
        let whole = readRequest(bytes, cuts: [bytes.count]).reading
        guard case .head = whole else {
            Issue.record("\(text) did not parse: \(whole)")
            return
        }
        for cuts in Pieces.cuts(bytes.count) {
            #expect(readRequest(bytes, cuts: cuts).reading == whole)
        }
    }

    @Test("Every beginning of a head is incomplete, never a fault", arguments: good)
    func prefixes(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard case .head(let summary) = readRequest(text) else {
            Issue.record("\(text) did not parse")
            return
        }
        for end in 0..<summary.consumed {
            #expect(readRequest(bytes, cuts: [end]).reading == .incomplete)
        }
    }

    @Test func absoluteForm() throws {
        let head = try requestHead(Self.good[0])
        #expect(head.method == .get)
        #expect(head.target.form == .absolute)
        #expect(head.target.scheme == .http)
        #expect(head.host == "example.com")
        #expect(head.target.port == 80)
        #expect(head.path == "/a/b")
        #expect(head.query == "c=d")
        #expect(head.url == "http://example.com/a/b?c=d")
        #expect(head.fields["accept"] == "*/*")
    }

    @Test("White space around a value goes, inside it stays; an empty value is a value")
    func whiteSpace() throws {
        let head = try requestHead("GET / HTTP/1.1\r\nHost: h\r\nA: \t b  c\t \r\nB:\r\nC: \r\n\r\n")
        #expect(head.fields["A"] == "b  c")
        #expect(head.fields["B"] == "")
        #expect(head.fields["C"] == "")
    }

    @Test("Whatever became of a head, it can be read: an answer to a bad request looks at its fields", arguments: good)
    func readable(_ text: String) throws {
        let bytes = Array(text.utf8)
        var parser = HeadParser()
        var head = RequestHead()
        // once with what an earlier request left, so that nothing of it shines through
        for _ in 0..<2 {
            for end in bytes.indices {
                for tail in [[], [ASCII.lf], [0], Array("\r\n x".utf8), Array("\r\n\r\n".utf8)] {
                    let broken = Array(bytes[..<end]) + tail
                    parser.reset()
                    _ = try? parser.parse(broken.span, into: &head, limits: HeadLimits())
                    #expect(head.fields.lines.count == head.fields.count)
                    #expect(head.fields["Nowhere"] == nil)
                    _ = (head.methodText, head.url, head.host, head.path, head.query)
                }
            }
        }
    }

    @Test("The complete lines before a fault are there")
    func linesBeforeAFault() {
        let text = "GET /a HTTP/1.1\r\nAccept: text/plain\r\nX: b\u{0}\r\n\r\n"
        let bytes = Array(text.utf8)
        for cuts in Pieces.cuts(bytes.count) {
            let (reading, head) = readRequest(bytes, cuts: cuts)
            #expect(reading == .fault(HTTPFault(.badFieldValue, at: 41)))
            #expect(head.methodText == "GET")
            #expect(head.fields.lines.map(\.value) == ["text/plain"])
        }
    }

    @Test("What follows the head is left alone")
    func consumed() {
        guard case .head(let summary) = readRequest(Self.good[1]) else {
            Issue.record("did not parse")
            return
        }
        #expect(summary.consumed == Self.good[1].utf8.count - 3)
    }

    @Test("A parser that read one head reads the next one")
    func reuse() throws {
        var parser = HeadParser()
        var head = RequestHead()
        for text in Self.good {
            let consumed = try parser.parse(Array(text.utf8).span, into: &head, limits: HeadLimits())
            let count = try #require(consumed)
            #expect(.head(RequestSummary(head, count)) == readRequest(text))
        }
    }

    @Test func requestsMadeHere() throws {
        var head = try RequestHead(method: "POST", url: "https://am.example.com/am/json?x=1")
        #expect(head.method == .post)
        #expect(head.fields["Host"] == "am.example.com")
        #expect(head.target.port == 443)
        try head.setPathAndQuery("/other?y")
        #expect(head.url == "https://am.example.com/other?y")
        #expect(head.query == "y")
        head.setMethod("PROPFIND")
        #expect(head.method == .other)
        #expect(head.methodText == "PROPFIND")
    }

    @Test(
        "A URL that is refused leaves the request as it was", arguments: ["", "/path", "ftp://h/", "http://h/a b", "*"])
    func refusedURL(_ url: String) throws {
        var head = try RequestHead(method: "GET", url: "http://h/a?b")
        #expect(throws: HTTPFault.self) { try head.setURL(url) }
        #expect(head.url == "http://h/a?b")
        #expect(head.target.form == .absolute)
        #expect(head.target.port == 80)
    }

    @Test("A path never runs into the host", arguments: [".evil.example", "@evil.example/", ":81/", "evil"])
    func pathIsNoAuthority(_ path: String) throws {
        var head = try RequestHead(method: "GET", url: "http://example.com/a")
        #expect(throws: HTTPFault.self) { try head.setPathAndQuery(path) }
        #expect(head.url == "http://example.com/a")
    }

    @Test(
        "Parameters that are added are what a URL with them would be",
        arguments: [
            "http://h.example/", "http://h.example", "https://H.example:8443/a/b?", "http://h.example/p?a=%2F",
            "http://[::1]:80/?&", "https://h.example?q", "http://h.example:/p;v=1?a=b?c",
        ])
    func addedParameters(_ url: String) throws {
        var head = try RequestHead(method: "GET", url: url)
        var query = QueryText(head.query ?? "")
        query.add("n m", "1&2")
        query.add("o", "")
        let whole = "\(head.target.scheme.name)://\(head.fields.text(head.target.authority))"
        let expected = try RequestHead(
            method: "GET", url: "\(whole)\(head.fields.text(head.target.path))?\(query.text)")
        head.appendQuery(Array("n%20m=1%262&o=".utf8))
        #expect(head.url == expected.url && head.targetText == expected.targetText)
        #expect(head.host == expected.host && head.target.port == expected.target.port)
        #expect(head.path == expected.path && head.query == expected.query && head.target.form == .absolute)
        #expect(
            head.fields.text(head.target.pathAndQuery) == expected.fields.text(expected.target.pathAndQuery))
        #expect(head.fields.text(head.target.authority) == expected.fields.text(expected.target.authority))
        #expect(head.fields["Host"] == expected.fields["Host"])
    }

    @Test func parametersByName() throws {
        func mayHold(_ name: String, _ query: String) throws -> Bool {
            try RequestHead(method: "GET", url: "http://h/p" + query).queryMayHold(name)
        }
        for query in ["?a=1", "?b&a", "?b=a&a=&c", "?a", "?%61=1", "?b=1&%41", "?x+y=1"] {
            #expect(try mayHold("a", query), "\(query)")
        }
        for query in ["", "?", "?b=a", "?ab=1&ba=2", "?b=%61", "?&", "?=a", "?b=a+a&c"] {
            #expect(try !mayHold("a", query), "\(query)")
        }
        #expect(try mayHold("", "?&b") && mayHold("", "?=b") && !mayHold("", "?"))
    }

    @Test("Inside a tunnel and in origin form the authority comes from elsewhere")
    func adoptedAuthority() throws {
        var head = try requestHead("GET /a?b HTTP/1.1\r\nHost: Inner.Example:81\r\n\r\n")
        try head.settleHost()
        #expect(head.host == "inner.example")
        #expect(head.target.port == 81)
        #expect(head.url == "http://inner.example:81/a?b")
        try head.adopt(authority: "outer.example", scheme: .https)
        #expect(head.url == "https://outer.example/a?b")
        #expect(head.target.port == 443)
        #expect(faultCode { () throws(HTTPFault) in try head.adopt(authority: "a b", scheme: .http) } == .badHost)
    }
}
