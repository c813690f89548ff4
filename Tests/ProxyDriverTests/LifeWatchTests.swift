import ProxyCore
import Testing

@testable import ProxyDriver

/// When a PING is due, and what it means that none is answered.
struct LifeWatchTests {
    private let bounds = LifeWatch.Bounds()

    private func look(_ watch: inout LifeWatch, _ now: Int, awaited: Bool = true, untaken: Int = 0) -> LifeWatch.Finding
    {
        watch.look(now: now, isAwaited: awaited, quiet: 2_000, bounds, untaken: untaken)
    }

    @Test func silenceIsAskedAboutAndThenBelieved() {
        var watch = LifeWatch(now: 0)
        #expect(look(&watch, 1_999) == .nothing)
        #expect(look(&watch, 2_000) == .ask)
        #expect(look(&watch, 3_999) == .nothing)
        // what waits in the socket is read before the last word
        #expect(look(&watch, 4_000) == .nothing)
        #expect(look(&watch, 4_100) == .gone)
    }

    @Test func aLoopThatWasHeldUpReadsFirst() {
        var watch = LifeWatch(now: 0)
        #expect(look(&watch, 2_000) == .ask)
        #expect(look(&watch, 60_000) == .nothing)
        watch.heard(60_001)
        #expect(look(&watch, 60_100) == .nothing)
    }

    @Test func nobodyAsksWhereNobodyWaits() {
        var watch = LifeWatch(now: 0)
        #expect(look(&watch, 100_000, awaited: false) == .nothing)
        #expect(look(&watch, 100_001) == .ask)
    }

    @Test func bytesThatAreTakenAreASign() {
        var watch = LifeWatch(now: 0)
        #expect(look(&watch, 2_000, untaken: 900) == .ask)
        for turn in 1..<8 { #expect(look(&watch, 2_000 + 2_000 * turn, untaken: 900 - 100 * turn) == .nothing) }
        #expect(look(&watch, 18_000, untaken: 200) == .nothing)
        #expect(look(&watch, 18_100, untaken: 200) == .gone)
    }

    @Test func aPeerThatAnswersIsNotAskedAgainAndAgain() {
        var watch = LifeWatch(now: 0)
        #expect(look(&watch, 2_000) == .ask)
        watch.heard(2_010)
        for now in stride(from: 3_000, to: 302_000, by: 1_000) { #expect(look(&watch, now) == .nothing, "\(now)") }
        #expect(look(&watch, 302_000) == .ask)
        watch.heard(302_010)
        watch.messageCame()
        #expect(look(&watch, 304_010) == .ask)
    }

    @Test func whoeverWaitsToKnowDoesNotWaitLong() {
        var watch = LifeWatch(now: 0)
        #expect(watch.isFresh(4_999, bounds) && !watch.isFresh(5_000, bounds))
        #expect(!watch.isDoubtful(90_000, bounds))
        watch.asks(90_000)
        #expect(watch.isAsked && !watch.isDoubtful(90_999, bounds) && watch.isDoubtful(91_000, bounds))
        watch.heard(91_001)
        #expect(!watch.isAsked && watch.isFresh(91_001, bounds) && !watch.isDoubtful(99_000, bounds))
    }

    @Test(arguments: [(60_000, 60_000, 15_000), (60_000, 8_000, 4_000), (500, 60_000, 1_000), (10_000, 0, 1_000)])
    func theTimeThatAnExchangeHasBoundsIt(_ idle: Int, _ response: Int, _ quiet: Int) {
        var timeouts = Timeouts()
        timeouts.idle = idle
        timeouts.response = response
        #expect(LifeWatch.quiet(timeouts) == quiet)
    }
}
