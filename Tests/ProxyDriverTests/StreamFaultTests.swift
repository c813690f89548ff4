import Formats
import Glibc
import HTTP1
import HTTPCodec
import Passwords
import TestSockets
import Testing

@testable import ProxyCore
@testable import ProxyDriver

/// What one stream leaves behind for the others, and for the connections that carry them.
@Suite("what streams leave behind")
struct StreamFaultTests {
    private func proxy(framed port: UInt16, prepare: @escaping @Sendable (Worker) -> Void = { _ in }) throws
        -> TestProxy
    {
        try TestProxy(prepare: { worker in
            worker.protocols.server = { FrameServer() }
            worker.protocols.client = { channel, _ in channel.origin.port == port ? FrameClient() : nil }
            prepare(worker)
        })
    }

    private static func get(_ authority: String, _ fields: String = "") -> String {
        "GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\n\(fields)\r\n"
    }

    private static func post(_ authority: String, _ count: Int) -> String {
        "POST http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\nContent-Length: \(count)\r\n\r\n"
    }

    /// Answers each request with `ok`, in frames, as many times as told.
    private static func answering(_ times: Int = .max) throws -> TestOrigin {
        try TestOrigin { wire in
            let peer = FramePeer(wire)
            var left = times
            while left > 0, let frame = peer.next() {
                guard frame.kind == .head else { continue }
                peer.send(
                    Frame(.head, frame.stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
                    Frame(.data, frame.stream, "ok"), Frame(.end, frame.stream))
                left -= 1
            }
        }
    }

    @Test("what came of a body that nobody wants any more is granted again")
    func creditOfARefusedBody() throws {
        let (listener, port) = try TestSocket.listening()
        Glibc.close(listener)
        let proxy = try proxy(framed: 0)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        client.send(
            Frame(.head, 1, Self.post("127.0.0.1:\(port)", 30_000)),
            Frame(.data, 1, [UInt8](repeating: 0x61, count: 20_000)))
        var granted = 0
        while let frame = client.raw(), frame.kind != .reset {
            if frame.kind == .credit, frame.stream == 1 { granted += frame.count }
        }
        #expect(granted == 20_000)
    }

    @Test("what came of an answer that nobody wants any more is granted again")
    func creditOfAnAbandonedAnswer() throws {
        let isSquare = Gate()
        let isStalled = Gate()
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            var sent = 0
            var granted = 0
            var isReset = false
            while let frame = peer.raw() {
                switch frame.kind {
                case .head: peer.send(Frame(.head, frame.stream, "HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n"))
                case .credit: granted += frame.count
                case .reset: isReset = true
                case .data, .end, .leave, .limit, .ping, .pong: break
                }
                // in small pieces: the proxy grants none of what comes with the byte that is too many
                while !isReset, sent <= granted {
                    peer.send(Frame(.data, 1, [UInt8](repeating: 0x62, count: 8 << 10)))
                    sent += 8 << 10
                }
                if granted >= Frame.window + ClientConnection.highWater { isStalled.open() }
                if isReset, granted == sent { isSquare.open() }
            }
        }
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        client.send(Frame(.head, 1, Self.get(origin.authority)), Frame(.end, 1))
        var taken = 0
        while taken < Frame.window, let frame = client.next(grants: false) {
            if frame.kind == .data { taken += frame.payload.count }
        }
        isStalled.wait()
        client.send(Frame(.reset, 1))
        isSquare.wait()
    }

    @Test("a drain waits for answers that the client has not taken, and lets nothing new begin")
    func drainWithBytesThatWait() throws {
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            guard let frame = peer.next(), frame.kind == .head else { return }
            peer.send(
                Frame(.head, 1, "HTTP/1.1 200 OK\r\nContent-Length: 80000\r\n\r\n"),
                Frame(.data, 1, [UInt8](repeating: 0x62, count: 40_000)))
            var granted = 0
            while granted < 40_000, let frame = peer.raw() { if frame.kind == .credit { granted += frame.count } }
            peer.send(Frame(.data, 1, [UInt8](repeating: 0x62, count: 40_000)), Frame(.end, 1))
            while peer.raw() != nil {}
        }
        let proxy = try proxy(framed: origin.port)
        let client = FramePeer(try proxy.client())
        client.send(Frame(.head, 1, Self.get(origin.authority)), Frame(.end, 1))
        var taken = 0
        while taken < Frame.window, let frame = client.next(grants: false) {
            if frame.kind == .data { taken += frame.payload.count }
        }
        #expect(proxy.statuses(1) == [200])
        proxy.drain()
        #expect(client.next()?.kind == .leave)
        client.send(.credit(1 << 20, 1))
        while let frame = client.next(), frame.kind == .data { taken += frame.payload.count }
        #expect(taken == 80_000)
        #expect(client.wire.isAtEnd())
        proxy.join()
    }

    @Test("a connection that carries an identity is lent to nobody else")
    func identityOnASharedConnection() throws {
        let origin = try Self.answering()
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let one = FramePeer(try proxy.client())
        one.send(Frame(.head, 1, Self.get(origin.authority, "Authorization: NTLM TlRM\r\n")), Frame(.end, 1))
        #expect(try #require(one.message(on: 1)).body == "ok")
        let other = FramePeer(try proxy.client())
        other.send(Frame(.head, 1, Self.get(origin.authority)), Frame(.end, 1))
        #expect(try #require(other.message(on: 1)).body == "ok")
        #expect(origin.accepted == 2)
    }

    @Test("a connection that was begun by the rules before serves whom it was made for")
    func rulesThatChangeWhileDialing() throws {
        let origin = try Self.answering()
        let material = try TestProxy.material()
        let proxy = try proxy(framed: origin.port) { worker in
            worker.protocols.client = { [unowned worker] _, _ in
                worker.security.adopt(material)
                return FrameClient()
            }
        }
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        for stream in [UInt32(1), 3] {
            client.send(Frame(.head, stream, Self.get(origin.authority)), Frame(.end, stream))
            #expect(try #require(client.message(on: stream)).body == "ok")
        }
        #expect(origin.accepted == 2)
    }

    @Test("an idle connection that its origin closes is given up")
    func idleConnectionEnds() throws {
        let origin = try Self.answering(1)
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        for index in 0..<20 {
            let stream = UInt32(2 * index + 1)
            client.send(Frame(.head, stream, Self.get(origin.authority)), Frame(.end, stream))
            #expect(try #require(client.message(on: stream)).body == "ok")
        }
        #expect(origin.accepted == 20)
    }

    @Test("a tunnel that is refused on a stream changes nothing for the others")
    func refusedTunnel() throws {
        let origin = try Self.answering()
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        client.send(Frame(.head, 1, "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n"))
        #expect(try #require(client.message(on: 1)).head.hasPrefix("HTTP/1.1 502 "))
        client.send(Frame(.head, 3, Self.get(origin.authority)), Frame(.end, 3))
        var resets = 0
        let message = try #require(client.message(on: 3) { if $0.kind == .reset { resets += 1 } })
        #expect(message.body == "ok" && resets <= 1)
    }

    // MARK: the machine alone

    private func machine(_ change: (inout Settings) -> Void = { _ in }) -> ClientConnection {
        var core = Settings()
        change(&core)
        return ClientConnection(engine: Engine(core), client: "c", streams: FrameServer(), now: 0)
    }

    private func lease(_ commands: [DriverCommand]) -> (id: ExchangeID, scope: LeaseScope)? {
        for case .lease(let id, _, let scope, _) in commands { return (id, scope) }
        return nil
    }

    /// A codec that has just read that head.
    private func codec(_ text: String) throws -> FrameClient {
        let codec = FrameClient()
        var parser = HeadParser()
        let bytes = Array(text.utf8)
        _ = try parser.parse(bytes.span, into: &codec.head, limits: Engine(Settings()).headLimits)
        return codec
    }

    private static func request(_ stream: UInt32, _ fields: String = "") -> [UInt8] {
        Frame(.head, stream, get("a.test", fields)).written + Frame(.end, stream).written
    }

    @Test func whoHasItsResponseIsToldToStopAWhileLater() throws {
        var machine = machine()
        var out = CommandBuffer()
        machine.received(Frame(.head, 1, Self.post("a.test", 1_000)).written.span, now: 0, &out)
        let id = try #require(lease(out.commands)).id
        machine.happened(.leased(reused: false, sendsRaw: true), to: id, now: 0, &out)
        let origin = try codec("HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n")
        machine.received(.head(.length(0)), of: [UInt8]().span, through: origin, for: id, now: 0, &out)
        machine.received(.end, of: [UInt8]().span, through: origin, for: id, now: 0, &out)
        machine.http.exchanges.takeRecord(of: id, &out) { _ in }
        out.clearClient()
        #expect(machine.wakeAt == 100)
        machine.woke(now: 99, &out)
        #expect(out.client.isEmpty)
        machine.woke(now: 100, &out)
        #expect(out.client == Frame(.reset, 1).written)
        #expect(machine.wakeAt > 100)
    }

    private static let connect = "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"

    /// The exchange of a CONNECT that has come on a stream.
    private func carried(_ machine: inout ClientConnection, on stream: UInt32, _ out: inout CommandBuffer) throws
        -> ExchangeID
    {
        machine.received(Frame(.head, stream, Self.connect).written.span, now: 0, &out)
        var asked: ExchangeID?
        for case .carry(let id) in out.commands { asked = id }
        out.clearCommands()
        return try #require(asked)
    }

    private func told(_ text: String, _ machine: inout ClientConnection, _ id: ExchangeID, _ out: inout CommandBuffer) {
        var codec = HTTP1Client()
        var scratch: [UInt8] = []
        codec.connect(to: "a.test:443", via: [], lines: [], to: &scratch)
        machine.received(Array(text.utf8).span, through: &codec, for: id, now: 0, &out)
    }

    @Test func whatATunnelsConnectionAnswersIsPassedOn() throws {
        var machine = machine()
        var out = CommandBuffer()
        let id = try carried(&machine, on: 1, &out)
        told("HTTP/1.1 200 Connection Established\r\n\r\nfirst", &machine, id, &out)
        let answer = String(decoding: out.client, as: UTF8.self)
        #expect(answer.contains("HTTP/1.1 200 Connection Established\r\n"))
        #expect(out.client.suffix(5) == Array("first".utf8)[...])
        out.clearClient()
        machine.received(Frame(.data, 1, "hello").written.span, now: 0, &out)
        #expect(out.origin == Array("hello".utf8))
    }

    @Test func aTunnelIsRecordedByItsOwnConnectionAlone() throws {
        var machine = machine()
        var out = CommandBuffer()
        let id = try carried(&machine, on: 1, &out)
        told("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", &machine, id, &out)
        var records = 0
        for case .record in out.commands { records += 1 }
        #expect(records == 0 && machine.http.exchanges.count == 0)
    }

    @Test func theConnectionInAStreamIsNoOther() throws {
        let machine = machine()
        let inner = try machine.http.carried(now: 0)
        #expect(inner.isIdle && inner.http.clientNetwork == machine.http.clientNetwork)
    }

    @Test(arguments: [ClientShares.Refusal.client, .all])
    func aTunnelForWhichThereIsNoRoom(_ refusal: ClientShares.Refusal) throws {
        var machine = machine()
        var out = CommandBuffer()
        let id = try carried(&machine, on: 1, &out)
        machine.happened(.tunnelRefused(refusal), to: id, now: 0, &out)
        #expect(String(decoding: out.client, as: UTF8.self).contains("HTTP/1.1 503 "))
        guard case .record = out.commands.last else { return _ = Issue.record("nothing is recorded") }
    }

    @Test func aStreamThatMovesLendsNoTimeToAnother() throws {
        var machine = machine { $0.timeouts.idle = 1_000 }
        var out = CommandBuffer()
        machine.received(Self.request(1).span, now: 0, &out)
        let id = try #require(lease(out.commands)).id
        machine.happened(.leased(reused: false, sendsRaw: true), to: id, now: 0, &out)
        machine.received(
            .head(.length(10)), of: [UInt8]().span, through: try codec("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"),
            for: id,
            now: 0, &out)
        // what the client takes is of another stream: this one's origin is silent
        for now in stride(from: 500, through: 5_000, by: 500) { machine.touched(.client, now: now) }
        #expect(machine.wakeAt == 1_000)
    }

    @Test func whatALostOriginHadNotTakenIsGranted() throws {
        var machine = machine()
        var out = CommandBuffer()
        machine.received(Frame(.head, 1, Self.post("a.test", 1_000)).written.span, now: 0, &out)
        let id = try #require(lease(out.commands)).id
        machine.happened(.leased(reused: false, sendsRaw: true), to: id, now: 0, &out)
        machine.queuedForOrigin(ClientConnection.highWater + 1, of: id, now: 0, &out)
        machine.received(Frame(.data, 1, "12345").written.span, now: 0, &out)
        #expect(out.client.isEmpty)
        machine.originLost(id, now: 0, &out)
        #expect(out.client == Frame.credit(5, 1).written)
    }

    private static func asks(_ user: String) -> String {
        "Proxy-Authorization: Basic \(Base64.encode("\(user):pass".utf8))\r\n"
    }

    private func withUsers(_ core: inout Settings) {
        let hash = "$2b$04$......................SOTgceZnd99TCJcTRZU3xFM9qH6L7.u"
        core.users = PasswordTable(htpasswd: "alice:\(hash)\nbob:\(hash)\n") { _, _ in }
    }

    private func isLetIn(_ machine: inout ClientConnection, _ out: inout CommandBuffer) throws {
        var asked: ExchangeID?
        for case .authenticate(let id, _) in out.commands { asked = id }
        machine.happened(.authenticated(.right), to: try #require(asked), now: 0, &out)
    }

    @Test func aConnectionOfOneUserIsNotKeptForAnother() throws {
        var machine = machine(withUsers)
        var out = CommandBuffer()
        machine.received(Self.request(1, Self.asks("alice") + "Authorization: NTLM TlRM\r\n").span, now: 0, &out)
        try isLetIn(&machine, &out)
        let id = try #require(lease(out.commands)).id
        machine.happened(.leased(reused: false, sendsRaw: true), to: id, now: 0, &out)
        out.clearCommands()
        // the other user comes while the first one's connection is in use
        machine.received(Self.request(3, Self.asks("bob")).span, now: 0, &out)
        try isLetIn(&machine, &out)
        let origin = try codec("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        machine.received(.head(.length(0)), of: [UInt8]().span, through: origin, for: id, now: 0, &out)
        machine.received(.end, of: [UInt8]().span, through: origin, for: id, now: 0, &out)
        var kept: [Bool] = []
        for case .release(id, let reusable) in out.commands { kept.append(reusable) }
        #expect(kept == [false])
    }

    @Test func whatOneUserBindsIsNotAnothers() throws {
        var machine = machine(withUsers)
        var out = CommandBuffer()
        machine.received(Self.request(1, Self.asks("alice")).span, now: 0, &out)
        try isLetIn(&machine, &out)
        let alice = try #require(lease(out.commands)).id
        machine.happened(.leased(reused: false, sendsRaw: true), to: alice, now: 0, &out)
        out.clearCommands()
        machine.received(Self.request(3, Self.asks("bob") + "Authorization: NTLM TlRM\r\n").span, now: 0, &out)
        try isLetIn(&machine, &out)
        let bob = try #require(lease(out.commands)).id
        machine.happened(.leased(reused: false, sendsRaw: true), to: bob, now: 0, &out)
        out.clearCommands()
        // an identity is asked of the first one, whose password was checked before the other's connection was bound
        let text = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"
        machine.received(.head(.length(0)), of: [UInt8]().span, through: try codec(text), for: alice, now: 0, &out)
        var unbinds = 0
        for case .unbind in out.commands { unbinds += 1 }
        #expect(unbinds == 1)
    }
}
