import EventLoop
import Glibc
import HTTPCodec
import ProxyCore
import Testing

@testable import ProxyDriver

struct PoolTests {
    let loop: Loop
    let here = Origin(scheme: .http, host: "a", port: 80)
    let there = Origin(scheme: .http, host: "b", port: 80)

    init() throws { loop = try Loop() }

    /// A channel, and the other end of it.
    private func channel(_ origin: Origin) throws -> (OriginChannel, Int32) {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        let channel = try OriginChannel(
            loop: loop, security: WorkerTLS(try TestProxy.material(), on: loop), origin: origin,
            descriptor: Descriptor(owning: ends[0]), connecting: false)
        return (channel, ends[1])
    }

    @Test func theLastOneInIsTheFirstOut() throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        let (first, a) = try channel(here)
        let (second, b) = try channel(here)
        let (other, c) = try channel(there)
        for (now, channel) in [first, second, other].enumerated() { pool.put(channel, now: now) }
        #expect(pool.count == 3)
        #expect(pool.take(here) === second)
        #expect(pool.take(here) === first)
        #expect(pool.take(here) == nil)
        #expect(pool.take(there) === other)
        #expect(pool.count == 0)
        for number in [a, b, c] { close(number) }
    }

    @Test func whatIsTooManyIsClosed() throws {
        let pool = OriginPool(perOrigin: 2, total: 3)
        var peers: [Int32] = []
        var kept: [Bool] = []
        for origin in [here, here, here, there, there] {
            let (channel, peer) = try channel(origin)
            pool.put(channel, now: 0)
            kept.append(!channel.isClosed)
            peers.append(peer)
        }
        #expect(kept == [true, true, false, true, false])
        #expect(pool.count == 3)
        pool.closeAll()
        #expect(pool.count == 0)
        for number in peers { close(number) }
    }

    @Test func whoseEndIsHereAlreadyIsNotKept() throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        let (channel, peer) = try channel(here)
        channel.holdsBack = true
        pool.put(channel, now: 0)
        #expect(channel.isClosed && pool.count == 0)
        close(peer)
    }

    @Test func oldOnesExpire() throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        var channels: [OriginChannel] = []
        var peers: [Int32] = []
        for (now, origin) in [(10, here), (20, here), (30, here), (15, there)] {
            let (channel, peer) = try channel(origin)
            pool.put(channel, now: now)
            channels.append(channel)
            peers.append(peer)
        }
        pool.expire(before: 20)
        #expect(channels.map(\.isClosed) == [true, false, false, true])
        #expect(pool.count == 2)
        #expect(pool.take(there) == nil)
        #expect(pool.take(here) === channels[2])
        for number in peers { close(number) }
    }

    @Test(arguments: ["", "HTTP/1.1 408 Too Late\r\n\r\n"])
    func whoEndsOrSpeaksUnaskedIsDiscarded(_ words: String) throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        let (first, a) = try channel(here)
        let (second, b) = try channel(here)
        pool.put(first, now: 0)
        pool.put(second, now: 0)
        let bytes = Array(words.utf8)
        #expect(bytes.withUnsafeBytes { write(b, $0.baseAddress, $0.count) } == bytes.count)
        if words.isEmpty { shutdown(b, Int32(SHUT_RDWR)) }
        loop.turn()
        #expect(second.isClosed)
        #expect(pool.count == 1)
        #expect(pool.take(here) === first)
        close(a)
        close(b)
    }
}
