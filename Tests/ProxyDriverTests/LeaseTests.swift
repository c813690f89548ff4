import EventLoop
import Glibc
import HTTPCodec
import Metrics
import Names
import Testing

@testable import ProxyCore
@testable import ProxyDriver

/// Who is lent a connection that stands, or waits for one that is being made.
@Suite("Leases")
struct LeaseTests {
    private let turned: TurnedWorker
    private let here = Origin(scheme: .http, host: "a.test", port: 80)

    init() throws { turned = try TurnedWorker() }

    // MARK: what stands

    @Test func whoWantsANewConnectionGetsNoneThatStands() throws {
        let (channel, peer) = try turned.channel(here)
        turned.pool.put(channel, now: 0)
        let connection = turned.worker.connectToNobody()
        #expect(connection.leases.idle(here, .new) == nil)
        #expect(connection.leases.idle(here, .any) === channel)
        turned.end()
        close(peer)
    }

    /// One proxy on the way serves every origin; not every origin may be asked for.
    @Test func whatStandsServesNoOriginThatIsDenied() throws {
        func origin(_ host: String) -> Origin {
            Origin(
                scheme: .http, host: host, port: 80, route: .forward(UpstreamProxy(host: "up.test", port: 3128)))
        }
        turned.adopt { settings, _ in
            settings.destinations = DestinationPolicy(
                allow: settings.destinations.allow, deny: ["b.test"].compactMap { DestinationPattern($0) })
        }
        let (channel, peer) = try turned.channel(origin("a.test").poolKey)
        turned.pool.put(channel, now: 0)
        let connection = turned.worker.connectToNobody()
        #expect(connection.leases.idle(origin("b.test"), .any) == nil)
        #expect(connection.leases.idle(origin("a.test"), .any) === channel)
        turned.end()
        close(peer)
    }

    /// It carries what it carries by now, and closes behind that.
    @Test func whatWasWithdrawnLendsNoMoreStreams() throws {
        let (channel, peer) = try turned.channel(here)
        channel.share(FrameClient(), turned.worker.settings.engine, from: turned.pool)
        let streams = try #require(channel.shared)
        let connection = turned.worker.connectToNobody()
        let stream = try #require(streams.lend(to: connection, ExchangeID(1)))
        turned.pool.closeAll()
        #expect(!channel.isClosed && streams.lend(to: connection, ExchangeID(2)) == nil)
        #expect(!streams.probe(for: turned.request(3, .heard)))
        streams.release(stream)
        #expect(channel.isClosed)
        turned.end()
        close(peer)
    }

    @Test func noMoreWaitToHearOfAnOriginThanItTakes() throws {
        let (channel, peer) = try turned.channel(here)
        channel.share(FrameClient(), turned.worker.settings.engine, from: turned.pool)
        let streams = try #require(channel.shared)
        turned.pool.known.note(.streams(StreamTerms(maxStreams: 2)), of: here)
        let waiting = (1...3).map { turned.request($0, .heard) }
        #expect(waiting.map { streams.probe(for: $0) } == [true, true, false])
        turned.end()
        close(peer)
    }

    // MARK: what is being made

    private func dial(_ origin: Origin) -> (Dial, first: LeaseRequest) {
        let request = turned.request(1)
        return (Dial(origin, for: request, worker: turned.worker), request)
    }

    @Test func noMoreWaitForADialThanTheOriginTakes() {
        turned.pool.known.note(.streams(StreamTerms(maxStreams: 2)), of: here)
        let (dial, _) = dial(here)
        turned.pool.dials.add(dial)
        let now = turned.worker.loop.now
        #expect(turned.pool.dials.joinable(here, now: now) === dial)
        dial.join(turned.request(2))
        #expect(turned.pool.dials.joinable(here, now: now) == nil)
        turned.pool.forgetAll()
        turned.end()
    }

    @Test func nobodyWaitsForADialThatTakesLong() {
        let (dial, _) = dial(here)
        turned.pool.dials.add(dial)
        let late = turned.worker.loop.now + turned.worker.settings.engine.settings.timeouts.connect
        #expect(turned.pool.dials.joinable(here, now: late - 1) === dial)
        #expect(turned.pool.dials.joinable(here, now: late) == nil)
        turned.pool.forgetAll()
        turned.end()
    }

    /// What one client has too many of says nothing about another.
    @Test func whoWaitsForANameOfAnotherClientsAsksItself() {
        turned.adopt { settings, _ in
            settings.destinations = DestinationPolicy(
                allow: settings.destinations.allow, deny: [here.host].compactMap { DestinationPattern($0) })
        }
        let (dial, _) = dial(here)
        dial.join(turned.request(2))
        dial.resolved(NameAnswer(host: here.host, addresses: [], timeToLive: 0, failure: .tooMany))
        let metrics = turned.worker.metrics
        #expect(metrics.value(.dialOverload) == 1)
        #expect(metrics.value(.dialForbidden) == 1, "the other one's own dial is not to go there, and was begun")
        turned.end()
    }

    // MARK: another generation

    /// Whoever comes after a reload has a connection made by its rules.
    @Test func whatIsBeingMadeAtAReloadIsForThoseAloneWhoWait() {
        let (dial, _) = dial(here)
        turned.pool.dials.add(dial)
        turned.pool.reaching.add(dial)
        turned.adopt { _, _ in }
        let now = turned.worker.loop.now
        #expect(turned.pool.dials.joinable(here, now: now) == nil)
        #expect(turned.pool.reaching.joinable(here, now: now) == nil)
        turned.end()
    }

    @Test func aReloadSaysHowManyIdleConnectionsAnOriginHas() throws {
        turned.adopt { _, core in core.limits.idlePerOrigin = 1 }
        let (first, a) = try turned.channel(here)
        let (second, b) = try turned.channel(here)
        for channel in [first, second] { turned.pool.put(channel, now: 0) }
        #expect(!first.isClosed && second.isClosed)
        turned.end()
        for number in [a, b] { close(number) }
    }

    @Test func theLogHearsOfAReload() {
        turned.adopt { settings, _ in settings.drainLimit = 7 }
        #expect(turned.limits.count == 2 && turned.limits.last == 7)
        turned.end()
    }
}
