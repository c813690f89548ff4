import HTTPCodec
import Testing

@testable import HTTP2

@Suite("Both sides of a connection")
struct ConnectionTests {
    let client = ClientTalk(nil)
    let server = ServerTalk(begins: false)

    /// Hands what either has to say to the other until both are silent.
    private func exchange(serverUses: Bool = true, clientUses: Bool = true) -> (server: [Seen], client: [Seen]) {
        var seen: (server: [Seen], client: [Seen]) = ([], [])
        while !client.out.isEmpty || !server.out.isEmpty {
            let asked = client.out
            client.out = []
            seen.server += server.feed(asked, uses: serverUses)
            let answered = server.out
            server.out = []
            seen.client += client.feed(answered, uses: clientUses)
        }
        return seen
    }

    private func respond(_ stream: UInt32, _ framing: BodyFraming = .chunked) {
        server.codec.respond(
            ResponseHead(status: 200, reason: ""), framing, ResponseManner(), on: StreamID(stream), to: &server.out)
    }

    private func body(of stream: UInt32, in seen: [Seen]) -> [UInt8] {
        seen.flatMap { (one: Seen) -> [UInt8] in if case .data(stream, let bytes) = one { bytes } else { [] } }
    }

    private func filler(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    @Test("Bodies larger than all windows, both ways, as they are used")
    func large() throws {
        let body = filler(3 << 20)
        try client.ask("POST", "http://a.test/", [:], Forwarding(framing: .length(UInt64(body.count))))
        client.codec.write(body.span, on: StreamID(1), to: &client.out)
        client.codec.end(trailers: [], on: StreamID(1), to: &client.out)
        #expect(client.codec.waiting(on: StreamID(1)) > 2 << 20)
        var seen = exchange()
        var came = self.body(of: 1, in: seen.server)
        #expect(came == body && seen.server.last == .end(1, "") && seen.client == [.drained(1)])
        respond(1)
        #expect(server.codec.write(body.span, on: StreamID(1), to: &server.out))
        #expect(server.codec.waiting(on: StreamID(1)) > 2 << 20)
        server.codec.end(trailers: Array("a: b\r\n".utf8), on: StreamID(1), to: &server.out)
        seen = exchange()
        came = self.body(of: 1, in: seen.client)
        #expect(came == body && seen.client.last == .end(1, "a: b\r\n"))
        #expect(server.codec.waiting(on: StreamID(1)) == 0)
    }

    @Test("What is not used is not granted: 64 KiB for a stream, and a stalled one stops no other")
    func stalled() throws {
        for _ in 0..<2 { try client.ask("POST", "http://a.test/", [:], Forwarding(framing: .chunked)) }
        let body = filler(100 << 10)
        client.codec.write(body.span, on: StreamID(1), to: &client.out)
        var seen = exchange(serverUses: false)
        var came = self.body(of: 1, in: seen.server).count
        #expect(came == FlowWindows.stream && client.codec.waiting(on: StreamID(1)) == body.count - came)
        client.codec.write(body.span.extracting(first: 1_000), on: StreamID(2), to: &client.out)
        seen = exchange(serverUses: false)
        #expect(seen.server == [.data(3, Array(body.prefix(1_000)))])
        server.codec.used(came, of: StreamID(1), to: &server.out)
        seen = exchange(serverUses: false)
        came += self.body(of: 1, in: seen.server).count
        #expect(came == body.count && seen.client == [.drained(1)])
    }

    @Test("However many streams stall, another has its 64 KiB")
    func window() throws {
        let body = filler(FlowWindows.stream)
        func upload() throws -> UInt32 {
            let stream = try client.ask("POST", "http://a.test/", [:], Forwarding(framing: .chunked))
            client.codec.write(body.span, on: StreamID(stream), to: &client.out)
            return stream
        }
        for _ in 0..<99 { _ = try upload() }
        let seen = exchange(serverUses: false)
        let came = (0..<99).map { self.body(of: 1 + 2 * $0, in: seen.server).count }
        #expect(came.min() == FlowWindows.stream)
        let last = try upload()
        #expect(self.body(of: 2 * last - 1, in: exchange(serverUses: false).server).count == FlowWindows.stream)
        // a stream that is over gives back what came of it
        client.codec.reset(StreamID(1), to: &client.out)
        #expect(exchange(serverUses: false).server == [.reset(1)])
        server.codec.used(came[0], of: StreamID(1), to: &server.out)
        let next = try upload()
        #expect(self.body(of: 2 * next - 1, in: exchange(serverUses: false).server).count == FlowWindows.stream)
    }

    @Test("A connection that was at rest goes on as if nothing had been")
    func rest() throws {
        for number in 0..<5 {
            // what both remember of fields outlasts it
            try client.ask("GET", "http://a.test/\(number)", ["x-same": "again and again"])
            // an exchange that is under way, and a frame, are not disturbed
            let asked = client.out
            client.out = []
            let middle = asked.count - 5
            var seen = server.feed(Array(asked[..<middle]))
            server.codec.rest()
            seen += server.feed(Array(asked[middle...]))
            server.codec.rest()
            client.codec.rest()
            let stream = UInt32(2 * number + 1)
            #expect(seen.count == 2 && seen.last == .end(stream, ""), "\(seen)")
            guard case .head(stream, let head, .none) = seen.first else { continue }
            #expect(head.hasPrefix("GET http://a.test/\(number)"), "\(head)")
            #expect(head.contains("x-same: again and again"), "\(head)")
            server.respond(stream)
            let place = UInt32(number + 1)
            let got = exchange().client
            #expect(got.dropFirst() == [.data(place, Array("ok".utf8)), .end(place, "")], "\(got)")
            server.codec.rest()
            client.codec.rest()
            if number % 2 == 0 {
                client.codec.ping(to: &client.out)
                #expect(exchange().client == [.pong])
                server.codec.rest()
                client.codec.rest()
            }
        }
    }

    @Test("A server at rest has let go of streams whose end nobody has asked for, and of what nghttp2 gave back")
    func restOfServer() {
        let talk = ServerTalk()
        let connection = talk.codec.connection
        let get: KeyValuePairs = [":method": "GET", ":scheme": "http", ":authority": "a.test", ":path": "/"]
        #expect(talk.feed(Frame.headers(1, get, end: true)).count == 2)
        talk.codec.rest()
        #expect(!connection.streams.isEmpty && connection.nghttp2.memory.kept > 0, "it is under way")
        talk.respond(1)
        #expect(!talk.out.isEmpty && !connection.streams.isEmpty)
        talk.codec.rest()
        #expect(connection.streams.isEmpty && connection.nghttp2.memory.kept == 0)
        #expect(talk.feed(Frame.headers(3, get, end: true)).last == .end(3, ""))
    }

    @Test(
        "A small response is a head and one frame of body, which ends it; above 8 KiB what came first goes first",
        arguments: [([2], [2]), ([4_096, 4_096], [8_192]), ([4_096, 4_097], [4_096, 4_097]), ([8_193], [8_193, 0])])
    func gathered(_ pieces: [Int], _ sizes: [Int]) {
        let talk = ServerTalk()
        let get: KeyValuePairs = [":method": "GET", ":scheme": "http", ":authority": "a.test", ":path": "/"]
        _ = talk.feed(Frame.headers(1, get, end: true))
        _ = talk.frames()
        var out: [UInt8] = []
        talk.codec.respond(
            ResponseHead(status: 200, reason: ""), .chunked, ResponseManner(), on: StreamID(1), to: &out)
        for size in pieces {
            _ = talk.codec.write([UInt8](repeating: 0x61, count: size).span, on: StreamID(1), to: &out)
        }
        talk.codec.end(trailers: [], on: StreamID(1), to: &out)
        talk.codec.flush(to: &out)
        let went = Frame.all(in: out)
        #expect(went.map(\.kind) == [1] + sizes.map { _ in 0 } && went.dropFirst().map(\.payload.count) == sizes)
        #expect(went.dropLast().allSatisfy { $0.flags & 1 == 0 } && went.last?.flags == 1)
    }

    @Test("Many that wait for the connection's window take turns")
    func turns() throws {
        for _ in 0..<2 { try client.ask() }
        _ = exchange()
        let body = filler(1 << 20)
        for stream in [1, 3] as [UInt32] {
            respond(stream)
            #expect(server.codec.write(body.span, on: StreamID(stream), to: &server.out))
        }
        server.out = []
        // the client grants the streams all, and the connection a little
        let talked = server.feed(Frame.grant(1, 1 << 20) + Frame.grant(3, 1 << 20) + Frame.grant(0, 64 << 10))
        #expect(talked == [])
        let went = Dictionary(grouping: server.frames().filter { $0.kind == 0 }, by: \.stream)
            .mapValues { $0.reduce(0) { $0 + $1.payload.count } }
        #expect((went[1] ?? 0) >= 16 << 10 && (went[3] ?? 0) >= 16 << 10, "\(went)")
    }

    @Test("Either gives a stream up, and the other hears of it")
    func resets() throws {
        for _ in 0..<3 { try client.ask() }
        _ = exchange()
        client.codec.reset(StreamID(1), to: &client.out)
        #expect(Frame.all(in: client.out).map(\.bytes) == [Frame.reset(1, 8)])
        var seen = exchange()
        #expect(seen.server == [.reset(1)] && seen.client == [])
        respond(3)
        server.codec.reset(StreamID(3), .failed, to: &server.out)
        #expect(server.codec.write([1].span, on: StreamID(3), to: &server.out) == false)
        seen = exchange()
        #expect(seen.client.last == .reset(2, .internalError) && seen.server == [])
        // of a stream that is no more, nothing is said
        server.codec.reset(StreamID(3), .failed, to: &server.out)
        client.codec.reset(StreamID(2), to: &client.out)
        #expect(server.out.isEmpty && client.out.isEmpty)
    }

    @Test("A response that is whole before the request: the rest of that is not wanted, and what waits goes out first")
    func early() throws {
        try client.ask("POST", "http://a.test/", [:], Forwarding(framing: .chunked))
        _ = exchange()
        respond(1)
        let body = filler(300_000)
        #expect(server.codec.write(body.span, on: StreamID(1), to: &server.out))
        server.codec.end(trailers: [], on: StreamID(1), to: &server.out)
        server.codec.reset(StreamID(1), .complete, to: &server.out)
        #expect(server.codec.waiting(on: StreamID(1)) > 0 && !Frame.all(in: server.out).contains { $0.kind == 3 })
        let seen = exchange()
        #expect(seen.client.last == .end(1, "") && seen.server == [])
        #expect(self.body(of: 1, in: seen.client).count == 300_000)
        #expect(client.codec.waiting(on: StreamID(1)) == 0)
    }

    @Test("A server that leaves: streams beyond the last are untouched, and others end as they would have")
    func leaving() throws {
        try client.ask()
        _ = exchange()
        server.codec.leave(to: &server.out)
        let goodbye = server.out
        try client.ask()
        let late = client.out
        client.out = []
        #expect(client.feed(goodbye) == [.reset(2, .refused)])
        #expect(!client.codec.isReusable && !client.codec.hasRoom && client.codec.begin() == nil)
        #expect(server.feed(late) == [])
        server.out = []
        respond(1)
        server.codec.end(trailers: [], on: StreamID(1), to: &server.out)
        #expect(exchange().client == [.head(1, "200 OK", .chunked), .end(1, "")])
    }

    @Test("What a server says of streams, and why it leaves")
    func terms() {
        let client = ClientTalk(nil)
        #expect(client.codec.terms == nil && client.codec.goAwayCode == nil)
        #expect(client.feed(Frame.settings([(3, 7)])) == [])
        #expect(client.codec.terms == StreamTerms(maxStreams: 7))
        #expect(client.feed(Frame.settings([(3, 1_000_000), (8, 1)])) == [])
        #expect(client.codec.terms == StreamTerms(maxStreams: 256, takesUpgrades: true))
        #expect(client.feed(Frame.goAway(last: 0, 11)) == [])
        #expect(client.codec.goAwayCode.map { "\($0)" } == "ENHANCE_YOUR_CALM")
    }

    @Test("A refused stream is untouched")
    func refused() throws {
        let client = ClientTalk()
        try client.ask()
        #expect(client.feed(Frame.reset(1, 7)) == [.reset(1, .refused)])
        try client.ask()
        #expect(client.feed(Frame.reset(3, 1)) == [.reset(2, StreamErrorCode(rawValue: 1))])
    }

    @Test("Places: as many as the peer allows, 100 until it has said so, and in any order")
    func places() throws {
        let young = ClientTalk()
        #expect(
            (0..<300).prefix { _ in young.codec.begin() != nil }.count == 256, "it said that there may be any number")
        let silent = HTTP2ClientBeforeSettings.places()
        #expect(silent == 100)
        let two = ClientTalk([(3, 2)])
        let first = try #require(two.codec.begin())
        let second = try #require(two.codec.begin())
        #expect(!two.codec.hasRoom && two.codec.begin() == nil && two.codec.isReusable)
        let head = try RequestHead(method: "GET", url: "http://a.test/2")
        two.codec.send(head, Forwarding(framing: .none), on: second, to: &two.out)
        #expect(
            two.feed(Frame.headers(1, [":status": "200"], end: true)).first == .head(second.number, "200 OK", .none))
        // a place that was never used is given back, too
        two.codec.reset(first, to: &two.out)
        #expect(two.codec.begin() != nil && two.codec.begin() != nil && two.codec.begin() == nil)
    }

    @Test("Requests that are given up again and again: the connection takes no more before its peer ends it")
    func givenUp() throws {
        for number in 1...64 {
            #expect(client.codec.isReusable && client.codec.hasRoom, "\(number)")
            try client.ask()
            _ = exchange()
            client.codec.reset(StreamID(UInt32(number)), to: &client.out)
            _ = exchange()
        }
        #expect(!client.codec.isReusable && client.codec.begin() == nil)
    }

    @Test("A ping, and its answer")
    func ping() {
        _ = exchange()
        client.codec.ping(to: &client.out)
        let seen = exchange()
        #expect(seen.client == [.pong] && seen.server == [])
    }

    @Test("WebSockets and the like: what HTTP/1 switches to is a stream")
    func upgrade() throws {
        let client = ClientTalk([(8, 1)])
        let server = ServerTalk(begins: false)
        #expect(client.codec.terms?.takesUpgrades == true)
        var forwarding = Forwarding(framing: .none)
        forwarding.upgrades = true
        try client.ask("GET", "https://a.test/chat", ["Connection": "Upgrade", "Upgrade": "websocket"], forwarding)
        let line = "GET https://a.test/chat\nHost: a.test\nConnection: Upgrade\nUpgrade: websocket"
        #expect(server.feed(client.out) == [.head(1, line, .none)])
        #expect(server.codec.head.asksForUpgrade)
        server.out = []
        var head = ResponseHead(status: 101, reason: "")
        head.fields.add("Connection", "Upgrade")
        head.fields.add("Upgrade", "websocket")
        server.codec.respond(head, .none, ResponseManner(), on: StreamID(1), to: &server.out)
        #expect(server.codec.write([1].span, on: StreamID(1), to: &server.out))
        #expect(
            client.feed(server.out) == [
                .switched(1, "101 Switching Protocols\nConnection: Upgrade\nUpgrade: websocket"), .data(1, [1]),
            ])
        client.out = []
        client.codec.write([2].span, on: StreamID(1), to: &client.out)
        client.codec.end(trailers: [], on: StreamID(1), to: &client.out)
        #expect(server.feed(client.out) == [.data(1, [2]), .end(1, "")])
        // where the peer takes none, the request goes without
        let plain = ClientTalk()
        #expect(plain.codec.terms?.takesUpgrades == false)
        try plain.ask("GET", "http://a.test/", ["Connection": "Upgrade", "Upgrade": "websocket"], forwarding)
        #expect(
            ServerTalk(begins: false).feed(plain.out) == [
                .head(1, "GET http://a.test/\nHost: a.test", .none), .end(1, ""),
            ])
    }

    @Test("A server may push nothing")
    func push() throws {
        try client.ask()
        let promise = Frame(
            kind: 5, flags: 4, stream: 1,
            payload: Frame.number(2)
                + Frame.block([":method": "GET", ":scheme": "http", ":authority": "a", ":path": "/"]))
        #expect(client.feed(promise.bytes) == [.failed(.badFrame)])
    }
}

/// A client that has not heard from its server.
private enum HTTP2ClientBeforeSettings {
    static func places() -> Int {
        let codec = HTTP2Client()
        return (0..<300).prefix { _ in codec.begin() != nil }.count
    }
}
