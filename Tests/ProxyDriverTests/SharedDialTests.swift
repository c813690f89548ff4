import EventLoop
import Glibc
import HTTPCodec
import ProxyCore
import TestSockets
import Testing

@testable import ProxyDriver

/// Requests that come at once for an origin whose connection is still being made.
@Suite("one connection is made for many")
struct SharedDialTests {
    /// - Parameter framed: the port of an origin that may speak in frames.
    private func proxy(
        framed port: UInt16, speaks: Bool = true, prepare: @escaping @Sendable (Worker) -> Void = { _ in }
    ) throws -> TestProxy {
        // no origin here is to be taken for one that has fallen silent, however slow the machine is
        try TestProxy({ _, core in
            core.timeouts.idle = 60_000
            core.timeouts.response = 60_000
        }) { worker in
            worker.protocols.server = { FrameServer() }
            worker.protocols.mayCarryMany = { origin, _ in origin.port == port }
            worker.protocols.client = { channel, _ in
                speaks && channel.origin.port == port ? FrameClient() : nil
            }
            prepare(worker)
        }
    }

    private static func request(_ stream: UInt32, _ authority: String) -> [Frame] {
        [
            Frame(.head, stream, "GET http://\(authority)/\(stream) HTTP/1.1\r\nHost: \(authority)\r\n\r\n"),
            Frame(.end, stream),
        ]
    }

    /// All of them in one piece, so that none is answered before all have come.
    private static func ask(_ client: FramePeer, _ streams: [UInt32], _ authority: String, then: [Frame] = []) {
        let frames = streams.flatMap { request($0, authority) } + then
        client.wire.send(frames.flatMap(\.written))
    }

    /// The bodies of the answers, by streams.
    private static func bodies(_ client: FramePeer, _ count: Int) -> [UInt32: String] {
        var bodies: [UInt32: String] = [:]
        var ended = 0
        while ended < count, let frame = client.next() {
            if frame.kind == .data { bodies[frame.stream, default: ""] += frame.text }
            if frame.kind == .end { ended += 1 }
        }
        return bodies
    }

    private static func answer(_ peer: FramePeer, _ stream: UInt32, _ body: String) {
        peer.send(
            Frame(.head, stream, "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"),
            Frame(.data, stream, body), Frame(.end, stream))
    }

    private static func answering() throws -> TestOrigin {
        try TestOrigin { wire in
            let peer = FramePeer(wire)
            while let frame = peer.next() {
                if frame.kind == .head { answer(peer, frame.stream, "ok") }
            }
        }
    }

    private static let six = [UInt32(1), 3, 5, 7, 9, 11]
    private static let allWell = Dictionary(uniqueKeysWithValues: six.map { ($0, "ok") })

    @Test("six requests at once go by one connection")
    func oneForSix() throws {
        let origin = try Self.answering()
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.ask(client, Self.six, origin.authority)
        #expect(Self.bodies(client, 6) == Self.allWell)
        #expect(origin.accepted == 1)
    }

    @Test("where it turns out to speak HTTP/1, all have one each, and nobody waits the next time")
    func oneEach() throws {
        let origin = try TestOrigin.echo()
        let proxy = try proxy(framed: origin.port, speaks: false)
        defer { proxy.close() }
        for _ in 0..<2 {
            let client = FramePeer(try proxy.client())
            Self.ask(client, Self.six, origin.authority)
            #expect(Self.bodies(client, 6) == Self.allWell)
        }
        // those of the first time serve the second
        #expect(origin.accepted == 6)
        #expect(proxy.statuses(12) == Array(repeating: 200, count: 12))
    }

    @Test("beyond what the origin takes at a time the next connection is one for many, too")
    func beyondTheLimit() throws {
        let areAsked = Locked(0)
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            peer.send(.limit(2))
            var held: [UInt32] = []
            while let frame = peer.next() {
                guard frame.kind == .head else { continue }
                guard !frame.text.contains("/1 ") else {
                    Self.answer(peer, frame.stream, "first")
                    continue
                }
                held.append(frame.stream)
                areAsked.signal { $0 += 1 }
                guard held.count == 2 else { continue }
                // all have their place before the first of them is answered
                _ = areAsked.wait(milliseconds: 10_000) { $0 >= 6 ? true : nil }
                for stream in held { Self.answer(peer, stream, "ok") }
            }
        }
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.ask(client, [1], origin.authority)
        #expect(Self.bodies(client, 1) == [1: "first"])
        let streams = [UInt32(3), 5, 7, 9, 11, 13]
        Self.ask(client, streams, origin.authority)
        #expect(Self.bodies(client, 6) == Dictionary(uniqueKeysWithValues: streams.map { ($0, "ok") }))
        #expect(origin.accepted == 3)
    }

    @Test("what is asked of two origins at once goes to each of them")
    func eachItsOwn() throws {
        let origins = try ["one", "two"].map { body in
            try TestOrigin { wire in
                let peer = FramePeer(wire)
                while let frame = peer.next() {
                    if frame.kind == .head { Self.answer(peer, frame.stream, body) }
                }
            }
        }
        let ports = origins.map(\.port)
        let proxy = try proxy(framed: 0) { worker in
            worker.protocols.mayCarryMany = { origin, _ in ports.contains(origin.port) }
            worker.protocols.client = { channel, _ in ports.contains(channel.origin.port) ? FrameClient() : nil }
        }
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        let frames = Self.request(1, origins[0].authority) + Self.request(3, origins[1].authority)
        client.wire.send(frames.flatMap(\.written))
        #expect(Self.bodies(client, 2) == [1: "one", 3: "two"])
        #expect(origins.map(\.accepted) == [1, 1])
    }

    @Test("those that were too many before the origin had said so go by others")
    func refused() throws {
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            peer.send(.limit(2))
            var count = 0
            while let frame = peer.next() {
                guard frame.kind == .head else { continue }
                count += 1
                if count > 2 { peer.send(.untouched(frame.stream)) } else { Self.answer(peer, frame.stream, "ok") }
            }
        }
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.ask(client, Self.six, origin.authority)
        #expect(Self.bodies(client, 6) == Self.allWell)
        #expect(origin.accepted > 2)
    }

    @Test("whoever had it made may go: the others have it")
    func firstGoes() throws {
        let origin = try Self.answering()
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.ask(client, [1, 3, 5], origin.authority, then: [Frame(.reset, 1)])
        #expect(Self.bodies(client, 2) == [3: "ok", 5: "ok"])
        #expect(origin.accepted == 1)
    }

    @Test("when all of them have gone it is given up, and the next has another one made")
    func allGo() throws {
        let origin = try Self.answering()
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.ask(
            client, [1, 3], origin.authority,
            then: [Frame(.reset, 3), Frame(.reset, 1)] + Self.request(5, origin.authority))
        #expect(Self.bodies(client, 1) == [5: "ok"])
    }

    @Test("a client that goes with all its requests leaves those of another")
    func clientGoes() throws {
        let origin = try Self.answering()
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        for _ in 0..<20 {
            let one = FramePeer(try proxy.client())
            let other = FramePeer(try proxy.client())
            Self.ask(one, [1, 3], origin.authority)
            Self.ask(other, [1, 3], origin.authority)
            shutdown(one.wire.descriptor, Int32(SHUT_RDWR))
            #expect(Self.bodies(other, 2) == [1: "ok", 3: "ok"])
        }
    }

    @Test("where none comes about, each is told why")
    func failure() throws {
        let (listener, port) = try TestSocket.listening()
        Glibc.close(listener)
        let proxy = try proxy(framed: port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.ask(client, [1, 3, 5], "127.0.0.1:\(port)")
        var words: [String] = []
        for body in Self.bodies(client, 3).values { words.append(body) }
        #expect(words.count == 3 && words.allSatisfy { $0.contains("refused the connection") })
        #expect(proxy.statuses(3) == [502, 502, 502])
    }

    @Test("rules that change while it is being made have it serve those alone who waited")
    func reload() throws {
        let origin = try Self.answering()
        let port = origin.port
        let material = try TestProxy.material()
        let proxy = try proxy(framed: port) { worker in
            worker.protocols.client = { [unowned worker] channel, _ in
                guard channel.origin.port == port else { return nil }
                worker.security.adopt(material)
                return FrameClient()
            }
        }
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.ask(client, Self.six, origin.authority)
        #expect(Self.bodies(client, 6) == Self.allWell)
        Self.ask(client, [13], origin.authority)
        #expect(Self.bodies(client, 1) == [13: "ok"])
        #expect(origin.accepted == 2)
    }

    @Test("an origin that ends each connection at once is not asked for ever")
    func endsAtOnce() throws {
        let origin = try TestOrigin { wire in FramePeer(wire).send(Frame(.leave, 0)) }
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.ask(client, Self.six, origin.authority)
        #expect(proxy.statuses(6).allSatisfy { $0 == 502 })
        #expect(origin.accepted <= 6 * (LeaseRequest.maxDisappointments + 2))
    }

    @Test func whatOriginsSpokeIsForgottenWithTime() {
        var known = KnownOrigins()
        func origin(_ number: Int) -> Origin { Origin(scheme: .https, host: "h\(number)", port: 443) }
        for number in 0..<10_000 { known.note(.exchanges, of: origin(number)) }
        #expect(known.count <= 2_048)
        #expect(known[origin(0)] == nil && known[origin(9_999)] == .exchanges)
        known.note(.streams(.init(maxStreams: 7)), of: origin(9_999))
        #expect(known.terms(origin(9_999)).maxStreams == 7 && known.terms(origin(0)) == KnownOrigins.unsaid)
    }
}
