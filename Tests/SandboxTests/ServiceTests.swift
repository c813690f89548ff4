import EventLoop
import Formats
import HTTPCodec
import Testing

@testable import Sandbox

/// A service on a thread of its own for as long as this lives.
private final class Running {
    let service: SandboxService
    let lines = Locked<[String]>([])
    private let thread: SystemThread

    init(_ options: SandboxOptions = SandboxOptions(), listen: [(String, UInt16)] = [("127.0.0.1", 0)]) throws {
        let lines = self.lines
        let service = try SandboxService(options: options, listen: listen) { line in
            lines.withLock { $0.append(line) }
        }
        self.service = service
        thread = try SystemThread(name: "sandbox") {
            do { try service.run() } catch { Issue.record(error) }
        }
    }

    deinit {
        service.stop()
        thread.join()
    }

    func connect() throws -> SocketClient { try SocketClient(port: service.boundPorts[0]) }
}

@Suite struct ServiceTests {
    static func get(_ path: String, _ more: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: shop.localhost\r\n\(more)\r\n"
    }

    @Test func aConnectionIsKept() throws {
        let running = try Running()
        let client = try running.connect()
        for number in 0..<3 {
            try client.send(Self.get("/plain/bytes/\(number)"))
            #expect(try client.answer().body.count == number)
        }
        try client.send(Self.get("/plain/echo") + Self.get("/plain/status/404"))
        #expect(try client.answer().json?["url"]?.text == "http://shop.localhost/plain/echo")
        #expect(try client.answer().status == 404)
        try client.send(Self.get("/plain/echo", "Connection: close\r\n"))
        let last = try client.answer()
        #expect(last.head.fields["Connection"] == "close")
        #expect(try client.isAtEnd())
        #expect(running.lines.withLock { $0.first } == "GET /plain/bytes/0 → 200 · 0 bytes")
    }

    @Test func headHasNoBody() throws {
        let client = try Running().keeping { try $0.connect() }
        try client.value.send("HEAD /plain/bytes/77 HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get("/plain/bytes/3"))
        #expect(try client.value.answer(to: "HEAD").head.fields["Content-Length"] == "77")
        #expect(try client.value.answer().body.count == 3)
    }

    @Test func everyFramingArrives() throws {
        let running = try Running()
        let client = try running.connect()
        try client.send(Self.get("/plain/chunked/1000/7"))
        #expect(try client.answer().body == PlainPages.pattern(1000))
        try client.send("GET /plain/status/204 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().head.fields["Content-Length"] == nil)
        try client.send(Self.get("/plain/close"))
        #expect(try client.answer().body == PlainPages.pattern(1000))
        #expect(try client.isAtEnd())
    }

    @Test func bodiesInEveryFormAreRead() throws {
        let running = try Running()
        let client = try running.connect()
        let large = PlainPages.pattern(3 << 20)
        try client.send("POST /plain/echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(large.count)\r\n\r\n")
        try client.send(large)
        #expect(try client.answer().json?["bodyLength"] == .integer(large.count))
        try client.send("POST /plain/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in ["5\r\nhel", "lo\r\n1", ";a=b\r\n!\r\n0\r\nT: 1\r", "\n\r\n"] { try client.send(piece) }
        #expect(try client.answer().json?["body"]?.text == "hello!")
        try client.send("POST /plain/echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(try client.answer().status == 100)
        try client.send("ok")
        #expect(try client.answer().json?["body"]?.text == "ok")
    }

    @Test func tooLargeIsSaidBeforeTheBody() throws {
        var options = SandboxOptions()
        options.maxBodyBytes = 10
        let running = try Running(options)
        let client = try running.connect()
        try client.send("POST /plain/echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n")
        #expect(try client.answer().status == 413)
        let chunked = try running.connect()
        try chunked.send(
            "POST /plain/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n")
        #expect(try chunked.answer().status == 413)
    }

    @Test(arguments: [
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    ])
    func malformedRequestsAreRefused(text: String) throws {
        let running = try Running()
        let client = try running.connect()
        try client.send(text)
        #expect(try client.answer().status == 400)
        client.finish()
        #expect(try client.isAtEnd())
    }

    @Test func oneByteAtATimeIsTheSame() throws {
        let running = try Running()
        let client = try running.connect()
        for byte in "POST http://am.localhost/plain/echo?q HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8 {
            try client.send([byte])
        }
        let echo = try client.answer().json
        #expect(echo?["url"]?.text == "http://am.localhost/plain/echo?q")
        #expect(echo?["body"]?.text == "abc")
    }

    @Test func oldClientsAreServed() throws {
        let running = try Running()
        let client = try running.connect()
        try client.send("GET /plain/chunked/50/7 HTTP/1.0\r\nHost: a\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.head.fields["Transfer-Encoding"] == nil)
        #expect(answer.body.count == 50)
        let kept = try running.connect()
        try kept.send("GET /plain/bytes/5 HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
        #expect(try kept.answer().head.fields["Connection"] == "keep-alive")
        try kept.send("GET /plain/bytes/6 HTTP/1.0\r\nHost: a\r\n\r\n")
        #expect(try kept.answer().body.count == 6)
        #expect(try kept.isAtEnd())
    }

    @Test func aHeldAnswerDoesNotHoldOthers() throws {
        let running = try Running()
        let slow = try running.connect()
        let fast = try running.connect()
        let begin = Loop.monotonicMilliseconds()
        try slow.send(Self.get("/plain/slow/700") + Self.get("/plain/bytes/1"))
        slow.finish()
        try fast.send(Self.get("/plain/bytes/2"))
        #expect(try fast.answer().body.count == 2)
        #expect(!slow.hasBytes)
        #expect(try slow.answer().text == "waited 700 ms\n")
        // the loop counts from the beginning of its turn, so a few milliseconds may be missing
        #expect(Loop.monotonicMilliseconds() - begin >= 600)
        // the client has closed its side, and still gets what it asked for
        #expect(try slow.answer().body.count == 1)
        #expect(try slow.isAtEnd())
    }

    @Test func aSlowReaderGetsEverything() throws {
        let running = try Running()
        let client = try running.connect()
        // more than the kernel's buffers hold: the rest waits in the queue, and further requests behind it
        try client.send((0..<4).map { _ in Self.get("/plain/bytes/8000000") }.joined())
        for _ in 0..<4 { #expect(try client.answer().body == PlainPages.pattern(8_000_000)) }
    }

    @Test func bothFamiliesAreListenedOn() throws {
        let running: Running
        do {
            running = try Running(listen: [("127.0.0.1", 0), ("::1", 0)])
        } catch let failure as SandboxService.Failure where failure.description.contains("[::1]") {
            return  // a machine without IPv6
        }
        let client = try SocketClient(port: running.service.boundPorts[1], ipv6: true)
        try client.send(Self.get("/plain/bytes/9"))
        #expect(try client.answer().body.count == 9)
    }

    @Test func aTakenPortIsSaidClearly() throws {
        let running = try Running()
        let port = running.service.boundPorts[0]
        let failure = #expect(throws: SandboxService.Failure.self) {
            try SandboxService(listen: [("127.0.0.1", port)])
        }
        #expect(failure?.description == "cannot listen on 127.0.0.1:\(port): Address already in use")
        #expect(throws: SandboxService.Failure.self) { try SandboxService(listen: [("localhost", 0)]) }
    }

    @Test func stoppingClosesConnections() throws {
        let client: SocketClient
        do {
            let running = try Running()
            client = try running.connect()
            try client.send(Self.get("/plain/bytes/1"))
            _ = try client.answer()
        }
        #expect(try client.isAtEnd())
    }

    @Test func tenClientsDanceAtOnce() throws {
        let running = try Running()
        let port = running.service.boundPorts[0]
        let users = ["demo"] + (1...9).map { "user\($0)" }
        let seen = Locked<[String: String]>([:])
        let threads = try users.map { user in
            try SystemThread(name: user) {
                do {
                    let who = try Dancer(port: port, user: user).dance()
                    seen.withLock { $0[user] = who }
                } catch { Issue.record(error, "\(user)") }
            }
        }
        for thread in threads { thread.join() }
        #expect(seen.withLock { $0 } == Dictionary(uniqueKeysWithValues: users.map { ($0, $0) }))
        #expect(running.lines.withLock { $0.filter { $0.contains("access") && $0.contains("used by") } }.count == 10)
    }
}

extension Running {
    /// Something made from this service, with the service kept alive beside it.
    func keeping<Value>(_ make: (Running) throws -> Value) rethrows -> (value: Value, running: Running) {
        (try make(self), self)
    }
}

/// One user who signs in, is refused, approves and comes back.
private struct Dancer {
    let client: SocketClient
    let user: String

    init(port: UInt16, user: String) throws {
        client = try SocketClient(port: port)
        self.user = user
    }

    private func post(_ path: String, _ fields: String, _ body: String) throws -> SocketClient.Answer {
        try client.send(
            "POST \(path) HTTP/1.1\r\nHost: a\r\nAccept-API-Version: resource=2.1\r\n"
                + "Content-Type: application/json\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return try client.answer(to: "POST")
    }

    /// - Returns: whom the resource saw.
    func dance() throws -> String {
        let path = "/am/json/realms/root/authenticate"
        let signedIn = try post(path, "X-OpenAM-Username: \(user)\r\nX-OpenAM-Password: changeit\r\n", "")
        let cookie = "Cookie: iPlanetDirectoryPro=\(try #require(signedIn.json?["tokenId"]?.text))\r\n"
        let asks = cookie + "x-authenticate-response: header\r\n"
        let refused = try post("/shop/pay", asks, "{\"amount\":40}")
        let challenge = try #require(refused.head.fields["WWW-Authenticate"])
        let encoded = try #require(challenge.split(separator: "\"").first { $0.hasPrefix("eyJ") })
        let advice = try JSONValue(parsing: try #require(Base64.decode(encoded)))
        let id = try #require(advice[CompositeAdvice.transaction]?[0]?.text)
        let value = PercentCoding.encode(CompositeAdvice(CompositeAdvice.transaction, id).xml)
        let step = try post("\(path)?authIndexType=composite_advice&authIndexValue=\(value)", cookie, "")
        let authId = try #require(step.json?["authId"]?.text)
        let answers = """
            {"authId":"\(authId)","callbacks":[
            {"type":"NameCallback","input":[{"name":"IDToken1","value":"\(user)"}]},
            {"type":"PasswordCallback","input":[{"name":"IDToken2","value":"changeit"}]}]}
            """
        #expect(try post(path, cookie, answers).status == 200)
        let granted = try post("/shop/pay?_txid=\(id)", asks, "{\"amount\":40}")
        #expect(granted.status == 200)
        #expect(granted.json?["body"]?.text == "{\"amount\":40}")
        return try #require(granted.json?["user"]?.text)
    }
}
