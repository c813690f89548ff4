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
    private func channel(_ origin: Origin, _ security: WorkerTLS? = nil) throws -> (OriginChannel, Int32) {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        let channel = try OriginChannel(
            loop: loop, security: security ?? WorkerTLS(try TestProxy.material(), on: loop), origin: origin,
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

    /// They would stand before the next request, or in the middle of nothing.
    @Test func whoHasNotTakenAllOfTheLastRequestIsNotKept() throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        let (channel, peer) = try channel(here)
        let much = [UInt8](repeating: 0, count: 8 << 20)
        #expect(much.withUnsafeBytes { channel.send($0) })
        try #require(channel.queuedBytes > 0)
        pool.put(channel, now: 0)
        #expect(channel.isClosed && pool.count == 0)
        close(peer)
    }

    /// They would pass for the next answer. What fills a whole read may not be all that came.
    @Test func whatHoldsBytesThatNobodyAskedForIsNotKept() throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        let (channel, peer) = try channel(here)
        let much = [UInt8](repeating: 0, count: Loop.scratchSize + 1)
        try #require(much.withUnsafeBytes { write(peer, $0.baseAddress, $0.count) } == much.count)
        guard case .bytes = channel.receive(), channel.incoming.count == Loop.scratchSize else {
            Issue.record("not a whole read")
            return
        }
        pool.put(channel, now: 0)
        #expect(channel.isClosed && pool.count == 0)
        close(peer)
    }

    @Test func whatIsSpentOrSomebodysIsNotKept() throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        let (spent, a) = try channel(here)
        let (bound, b) = try channel(here)
        spent.isSpent = true
        bound.isBound = true
        for channel in [spent, bound] { pool.put(channel, now: 0) }
        #expect(spent.isClosed && bound.isClosed && pool.count == 0)
        // nor among those of one client
        let own = BoundChannels(pool: pool)
        let (over, c) = try channel(here)
        over.isSpent = true
        own.put(over)
        #expect(over.isClosed && own.count == 0 && pool.bound == 0)
        for number in [a, b, c] { close(number) }
    }

    /// The rules that its address was judged by are those of before.
    @Test func whatIsOfAnotherGenerationIsNotKept() throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        let security = WorkerTLS(try TestProxy.material(), on: loop)
        let (channel, peer) = try channel(here, security)
        security.adopt(try TestProxy.material())
        pool.put(channel, now: 0)
        #expect(channel.isClosed && pool.count == 0)
        close(peer)
    }

    @Test func theNameThatTLSAsksForIsPartOfTheKey() throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        var named = Origin(scheme: .https, host: "192.0.2.1", port: 443)
        let plain = named
        named.serverName = "a.test"
        var other = plain
        other.serverName = "b.test"
        let (channel, peer) = try channel(named.poolKey)
        pool.put(channel, now: 0)
        #expect(pool.take(plain.poolKey) == nil && pool.take(other.poolKey) == nil)
        #expect(pool.take(named.poolKey) === channel)
        close(peer)
    }

    /// Each leads, or shows itself, elsewhere.
    private static let origins: [Origin] = {
        func by(_ proxy: String) -> UpstreamProxy { UpstreamProxy(proxy) ?? UpstreamProxy(host: "", port: 1) }
        let plain = Origin(scheme: .https, host: "a.test", port: 443)
        var named = plain
        named.serverName = "b.test"
        var routed = [
            Route.tunnel(by("http://proxy.test:3128")), .tunnel(by("http://other.test:3128")),
            .tunnel(by("http://proxy.test:3129")), .tunnel(by("http://u@proxy.test:3128")),
            .tunnel(by("http://v@proxy.test:3128")), .tunnel(by("http://u:p@proxy.test:3128")),
            .forward(by("http://proxy.test:3128")), .forward(by("http://u:p@proxy.test:3128")),
            .forward(by("http://u:q@proxy.test:3128")),
        ].map { Origin(scheme: .https, host: "a.test", port: 443, route: $0) }
        routed.append(Origin(scheme: .http, host: "a.test", port: 443, route: .forward(by("http://proxy.test:3128"))))
        return [
            plain, named, Origin(scheme: .http, host: "a.test", port: 443),
            Origin(scheme: .https, host: "b.test", port: 443), Origin(scheme: .https, host: "a.test", port: 444),
        ] + routed
    }()

    /// A connection is for all who go the same way to the same place as the same user of a proxy, and for nobody else.
    @Test func everyPartOfTheKeyCounts() throws {
        for (place, origin) in Self.origins.enumerated() {
            let pool = OriginPool(perOrigin: 8, total: 8)
            var known = KnownOrigins()
            let (channel, peer) = try channel(origin.poolKey)
            pool.put(channel, now: 0)
            known.note(.exchanges, of: origin)
            for (index, other) in Self.origins.enumerated() where index != place {
                #expect(pool.take(other.poolKey) == nil, "\(place) and \(index)")
                #expect(known[other] == nil, "\(place) and \(index)")
            }
            #expect(pool.take(origin.poolKey) === channel && known[origin] == .exchanges)
            close(peer)
        }
    }

    // MARK: those of one client

    @Test func aClientsOwnTakeNoRoomFromOthers() throws {
        let pool = OriginPool(perOrigin: 8, total: 2)
        let bound = BoundChannels(pool: pool)
        let (first, a) = try channel(here)
        let (second, b) = try channel(there)
        let (third, c) = try channel(there)
        bound.put(first)
        bound.put(second)
        #expect(bound.count == 2 && pool.bound == 2)
        bound.put(third)
        #expect(first.isClosed && bound.count == 2 && !pool.mayBindMore)
        #expect(bound.take(here) == nil, "it speaks with one origin for this client, and with no other")
        // another client keeps its conversation, and what serves everybody its place
        let (other, d) = try channel(here)
        let others = BoundChannels(pool: pool)
        others.put(other)
        #expect(others.take(here) === other)
        let (shared, e) = try channel(here)
        pool.put(shared, now: 0)
        #expect(pool.take(here) === shared)
        #expect(bound.take(there) === third && pool.bound == 1)
        bound.closeAll()
        #expect(second.isClosed && bound.count == 0 && pool.bound == 0)
        for number in [a, b, c, d, e] { close(number) }
    }

    @Test func aClientHasFewOfThem() throws {
        let pool = OriginPool(perOrigin: 8, total: 100)
        let bound = BoundChannels(pool: pool)
        var channels: [OriginChannel] = []
        var peers: [Int32] = []
        for number in 0...BoundChannels.limit {
            let (channel, peer) = try channel(Origin(scheme: .http, host: "\(number)", port: 80))
            bound.put(channel)
            channels.append(channel)
            peers.append(peer)
        }
        #expect(channels.map(\.isClosed) == [true] + Array(repeating: false, count: BoundChannels.limit))
        #expect(bound.count == BoundChannels.limit && pool.bound == BoundChannels.limit)
        // one that the origin closes is let go of
        shutdown(peers[1], Int32(SHUT_RDWR))
        loop.turn()
        #expect(channels[1].isClosed && bound.count == BoundChannels.limit - 1 && pool.bound == bound.count)
        for number in peers { close(number) }
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

    @Test func oneThatCarriesManyExpiresWhereItCarriesNone() throws {
        let pool = OriginPool(perOrigin: 8, total: 8)
        let (channel, peer) = try channel(here)
        channel.share(FrameClient(), Engine(Settings()), from: pool)
        pool.expire(before: channel.idleSince)
        #expect(!channel.isClosed)
        pool.expire(before: channel.idleSince + 1)
        #expect(channel.isClosed)
        close(peer)
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
