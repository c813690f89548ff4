import HTTPCodec
import ProxyCore
import Testing

@testable import Operation

@Suite("A request in HTTP/2 as somebody wrote it down")
struct GivenFieldsTests {
    private func read(_ text: String) throws -> GivenRequest { try GivenRequest(Array(text.utf8)) }

    private func settings(clients: Bool = true) -> HTTP2Settings {
        var settings = HTTP2Settings()
        settings.clients = clients
        return settings
    }

    private static let request = """
        :method: POST
        :authority: shop.test
        :scheme: https
        :path: /x?y=1
        content-type: text/plain
        cookie: a=1
        cookie: b=2

        hello
        """

    private func expectRequest(_ given: GivenRequest, body: String) {
        #expect(given.wantsHTTP2 && given.head.methodText == "POST" && given.head.url == "https://shop.test/x?y=1")
        #expect(given.head.fields.values(named: "cookie") == ["a=1; b=2"])
        #expect(given.head.fields["host"] == "shop.test" && String(decoding: given.body, as: UTF8.self) == body)
        #expect(given.tunnel == Origin(scheme: .https, host: "shop.test", port: 443))
    }

    // MARK: what is understood

    @Test func lineByLine() throws {
        let given = try read(Self.request)
        expectRequest(given, body: "hello")
        // no client has to tell how long it is
        #expect(given.head.fields["content-length"] == nil)
        #expect(given.version(settings()) == .http2 && given.version(settings(clients: false)) == .http11)
        let message = String(decoding: given.message, as: UTF8.self)
        #expect(message.hasPrefix("POST /x?y=1 HTTP/1.1\r\nHost: shop.test\r\n"), "\(message)")
    }

    @Test func inPairsOfLines() throws {
        let pairs = Self.request.components("\n\n")[0].components("\n").map { line in
            let parts = line.components(": ")
            return "\(parts[0])\n\(parts[1])"
        }
        expectRequest(try read(pairs.joined(separator: "\n")), body: "")
        let withColons = pairs.map { $0.components("\n").joined(separator: ":\n") }
        expectRequest(try read(withColons.joined(separator: "\n")), body: "")
    }

    @Test(arguments: ["[HTTP/2] [1] [", "* [HTTP/2] [1] [", "* h2h3 [", "* h2 ["])
    func asCurlShowsIt(_ mark: String) throws {
        let lines = Self.request.components("\n\n")[0].components("\n").map { "\(mark)\($0)]" }
        let text = """
            * [HTTP/2] [1] OPENED stream for https://shop.test/x?y=1
            \(lines.joined(separator: "\n"))
            > POST /x?y=1 HTTP/2
            > Host: other.test
            [HTTP/2] [3] [:method: GET]
            """
        expectRequest(try read(text), body: "")
    }

    @Test func asNghttpShowsIt() throws {
        let fields = Self.request.components("\n\n")[0].components("\n").map { "          \($0)" }
        let text = """
            [  0.001] Connected
            [  0.003] send SETTINGS frame <length=12, flags=0x00, stream_id=0>
                      (niv=2)
            [  0.003] send HEADERS frame <length=39, flags=0x25, stream_id=13>
                      ; END_STREAM | END_HEADERS | PRIORITY
                      (padlen=0, dep_stream_id=11, weight=16, exclusive=0)
                      ; Open new stream
            \(fields.joined(separator: "\n"))
            [  0.006] recv SETTINGS frame <length=6, flags=0x00, stream_id=0>
                      (niv=1)
            [  0.007] send HEADERS frame <length=39, flags=0x25, stream_id=15>
                      :method: GET
            """
        expectRequest(try read(text), body: "")
    }

    @Test(arguments: ["HTTP/2", "HTTP/2.0", "HTTP/3"])
    func byItsStartLine(_ version: String) throws {
        let given = try read(
            "POST /x?y=1 \(version)\nHost: shop.test\nConnection: keep-alive, x-hop\nX-Hop: 1\nTE: trailers\n"
                + "Cookie: a=1; b=2\n\nhello")
        expectRequest(given, body: "hello")
        #expect(given.head.fields["connection"] == nil && given.head.fields["x-hop"] == nil)
        #expect(given.head.fields["te"] == "trailers")
        let plain = try read("GET http://shop.test/ \(version)\nHost: shop.test\n\n")
        #expect(plain.wantsHTTP2 && plain.tunnel == nil)
        // nobody asks such a client what it would speak
        #expect(plain.version(settings(clients: false)) == .http2)
    }

    @Test(arguments: [
        ("--http2 https://a.test/", true, false), ("--http2-prior-knowledge https://a.test/", true, false),
        ("--http2 --http1.1 https://a.test/", false, false), ("--http2 -0 https://a.test/", false, false),
        ("--http1.1 --http2 https://a.test/", true, false), ("https://a.test/", false, false),
        ("--http2 http://a.test/", false, true), ("--http2-prior-knowledge http://a.test/", false, true),
    ])
    func curl(_ options: String, _ isHTTP2: Bool, _ keepsToHTTP1: Bool) throws {
        let given = try read("curl -d a=1 \(options)")
        #expect(given.wantsHTTP2 == isHTTP2 && given.keepsToHTTP1 == keepsToHTTP1)
        #expect(given.head.fields["content-length"] == "3")
        let names = given.head.fields.lines.map(\.name)
        #expect(names.contains("user-agent") == isHTTP2 && names.contains("User-Agent") != isHTTP2)
    }

    @Test func curlAsksForTheHostThatItIsTold() throws {
        let given = try read("curl --http2 -H 'Host: b.test' https://a.test/")
        #expect(given.head.host == "b.test" && given.tunnel?.host == "a.test")
    }

    @Test func tunnelsAndUpgrades() throws {
        let tunnel = try read(":method: CONNECT\n:authority: a.test:443\n")
        #expect(tunnel.head.method == .connect && tunnel.tunnel == nil)
        let socket = try read(
            ":method: CONNECT\n:protocol: websocket\n:scheme: https\n:authority: a.test\n:path: /chat\n")
        #expect(socket.head.method == .get && socket.head.fields["upgrade"] == "websocket")
    }

    // MARK: what is not

    @Test(arguments: [
        (":method: GET\n:path: /\n:authority: a.test", "without :scheme"),
        (":method: GET\n:scheme: https\n:authority: a.test", "without :path"),
        (":scheme: https\n:path: /\n:authority: a.test", "without :method"),
        (":method: GET\n:path: /\n:scheme: https", "without :authority"),
        (":method: CONNECT", "without :authority:"),
        (":method: GET\n:path: /\n:path: /\n:scheme: https\n:authority: a.test", "line 3, :path: /: a pseudo-field"),
        (":method: GET\n:path: /#top\n:scheme: https\n:authority: a.test", "the fragment, from # on"),
        (":method: GET\n:path: /a b\n:scheme: https\n:authority: a.test", "line 2, :path: /a b: the request target"),
        (":method: GET\n:path: /\n:scheme: ftp\n:authority: a.test", "line 3, :scheme: ftp: the scheme"),
        (":method: GET\n:path: /\n:scheme: https\n:authority: me@a.test", "line 4, :authority: me@a.test: the request"),
        (":method: GET\n:path: /\n:scheme: https\n:authority: a.test\nhost: b.test", "line 5, host: b.test: Host and"),
        (
            ":method: GET\n:path: /\n:scheme: https\n:authority: a.test\nX-Up: 1",
            "line 5, X-Up: 1: a field name holds a cap"
        ),
        (
            ":method: GET\nx: 1\n:path: /\n:scheme: https\n:authority: a.test",
            "line 3, :path: /: a pseudo-field stands where"
        ),
        (":method: GET\n:status: 200\n:path: /\n:scheme: https\n:authority: a.test", "does not have"),
        (":method: GET\n:colour: red\n", "line 2, :colour: red: there is a pseudo-field"),
        (":method: GE T\n:path: /\n:scheme: https\n:authority: a.test", "line 1, :method: GE T: the method"),
        (":method: GET\n:path: /\n:scheme: https\n:authority: a.test\nconnection: close", "speaks of the connection"),
        (":method: GET\nhello\n", "line 2 is not a field"), (":method\nGET\n:path", "line 3 is not a field"),
    ])
    func whatBreaksARule(_ text: String, _ words: String) {
        let fault = #expect(throws: Explanation.Fault.self) { try read(text) }
        #expect(fault?.description.contains(words) == true, "\(fault?.description ?? "")")
    }

    @Test(arguments: ["* Connected to a.test\n", "[ 0.1] recv SETTINGS frame\n"])
    func aTranscriptWithoutARequest(_ text: String) {
        #expect(throws: Explanation.Fault.self) { try read(text) }
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
