import EventLoop
import Glibc
import ProxyCore
import Testing

@testable import ProxyDriver

/// Connections that carry many exchanges, at whose other end nobody is any more.
@Suite("origins that fall silent")
struct SilentOriginTests {
    private func proxy(
        framed port: UInt16, idle: Int = 2_000, prepare: @escaping @Sendable (Worker) -> Void = { _ in }
    ) throws -> TestProxy {
        try TestProxy({ _, core in
            core.timeouts.idle = idle
            core.timeouts.response = 8_000
        }) { worker in
            worker.protocols.server = { FrameServer() }
            worker.protocols.mayCarryMany = { origin, _ in origin.port == port }
            worker.protocols.client = { channel, _ in channel.origin.port == port ? FrameClient() : nil }
            prepare(worker)
        }
    }

    private static func send(_ client: FramePeer, _ stream: UInt32, _ method: String, _ authority: String) {
        let head = "\(method) http://\(authority)/\(stream) HTTP/1.1\r\nHost: \(authority)\r\n"
        guard method == "POST" else {
            return client.send(Frame(.head, stream, head + "\r\n"), Frame(.end, stream))
        }
        client.send(
            Frame(.head, stream, head + "Content-Length: 2\r\n\r\n"), Frame(.data, stream, "ab"), Frame(.end, stream))
    }

    private static func answer(_ peer: FramePeer, _ stream: UInt32, _ body: String) {
        peer.send(
            Frame(.head, stream, "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"),
            Frame(.data, stream, body), Frame(.end, stream))
    }

    /// Its first connection answers one request, and then takes whatever comes without a word; the others answer all, PINGs, too.
    private static func falling() throws -> TestOrigin {
        let isFirst = Locked(true)
        return try TestOrigin { wire in
            let peer = FramePeer(wire)
            let falls = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            var isSilent = false
            while let frame = peer.next(grants: !isSilent) {
                guard !isSilent else { continue }
                if frame.kind == .ping { peer.send(Frame(.pong, 0)) }
                if frame.kind == .head { Self.answer(peer, frame.stream, falls ? "first" : "next") }
                if frame.kind == .end, falls { isSilent = true }
            }
        }
    }

    @Test("what may be sent again is, on a connection that somebody answers on")
    func sentAgain() throws {
        let origin = try Self.falling()
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.send(client, 1, "GET", origin.authority)
        #expect(try #require(client.message(on: 1)).body == "first")
        Self.send(client, 3, "GET", origin.authority)
        #expect(try #require(client.message(on: 3)).body == "next")
        #expect(origin.accepted == 2)
    }

    @Test("what may not be sent twice is told so, before its time is up")
    func toldSo() throws {
        let origin = try Self.falling()
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.send(client, 1, "GET", origin.authority)
        #expect(try #require(client.message(on: 1)).body == "first")
        Self.send(client, 3, "POST", origin.authority)
        let message = try #require(client.message(on: 3))
        #expect(message.head.hasPrefix("HTTP/1.1 502 "), "\(message)")
        #expect(message.body.contains("did not respond to a PING"), "\(message)")
        Self.send(client, 5, "POST", origin.authority)
        #expect(try #require(client.message(on: 5)).body == "next")
    }

    @Test("an origin that is slow, and there, is waited for")
    func slow() throws {
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            var asked: UInt32?
            while let frame = peer.next() {
                if frame.kind == .head { asked = frame.stream }
                guard frame.kind == .ping, let stream = asked else { continue }
                peer.send(Frame(.pong, 0))
                Self.answer(peer, stream, "late")
            }
        }
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.send(client, 1, "POST", origin.authority)
        #expect(try #require(client.message(on: 1)).body == "late")
        #expect(origin.accepted == 1)
    }

    @Test(
        "before something goes out that may go out once alone, a connection that was idle is asked whether anybody is there"
    )
    func probe() throws {
        let pings = Locked(0)
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            while let frame = peer.next() {
                if frame.kind == .head { Self.answer(peer, frame.stream, "ok") }
                guard frame.kind == .ping else { continue }
                pings.withLock { $0 += 1 }
                peer.send(Frame(.pong, 0))
            }
        }
        let proxy = try proxy(framed: origin.port) { $0.origins.pool.life.fresh = 0 }
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        for (stream, method, count) in [(UInt32(1), "GET", 0), (3, "POST", 1), (5, "GET", 1), (7, "POST", 2)] {
            Self.send(client, stream, method, origin.authority)
            #expect(try #require(client.message(on: stream)).body == "ok")
            #expect(pings.withLock { $0 } == count, "\(stream)")
        }
        #expect(origin.accepted == 1)
    }

    @Test("where nobody answers it goes by another one")
    func probeUnanswered() throws {
        let origin = try Self.falling()
        let proxy = try proxy(framed: origin.port) {
            $0.origins.pool.life.fresh = 0
            $0.origins.pool.life.probe = 100
        }
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        Self.send(client, 1, "GET", origin.authority)
        #expect(try #require(client.message(on: 1)).body == "first")
        for stream in [UInt32(3), 5] { Self.send(client, stream, "POST", origin.authority) }
        #expect(try #require(client.message(on: 3)).body == "next")
        #expect(origin.accepted == 2)
    }

    @Test("whoever goes while it waits to know leaves the others waiting", arguments: [false, true])
    func goesWhileWaiting(_ whole: Bool) throws {
        let isAsked = Gate()
        let hasGone = Gate()
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            while let frame = peer.next() {
                if frame.kind == .head { Self.answer(peer, frame.stream, "ok") }
                guard frame.kind == .ping else { continue }
                isAsked.open()
                hasGone.wait()
                peer.send(Frame(.pong, 0))
            }
        }
        let proxy = try proxy(framed: origin.port, idle: 60_000) {
            $0.origins.pool.life.fresh = 0
            $0.origins.pool.life.probe = 60_000
            $0.origins.pool.life.patience = 60_000
        }
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        let other = FramePeer(try proxy.client())
        Self.send(client, 1, "GET", origin.authority)
        #expect(try #require(client.message(on: 1)).body == "ok")
        Self.send(client, 3, "POST", origin.authority)
        isAsked.wait()
        Self.send(other, 1, "POST", origin.authority)
        if whole { shutdown(client.wire.descriptor, Int32(SHUT_RDWR)) } else { client.send(Frame(.reset, 3)) }
        // it is over, and recorded, before the origin answers
        #expect(proxy.statuses(2).count == 2)
        hasGone.open()
        #expect(try #require(other.message(on: 1)).body == "ok")
        #expect(origin.accepted == 1)
    }
}
