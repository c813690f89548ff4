import Interception
import ProxyCore
import Testing

@Suite struct PolicyDecisionsTests {
    @Test func whoWaitsToAsk() throws {
        var line = QuestionLine<Void>()
        let begins = line.begin(1, most: 2)
        let places = [1, 2, 3, 4].map { line.enter($0, most: 2, ()) }
        let (first, second, third) = (try #require(places[0]), try #require(places[1]), try #require(places[2]))
        // the first one's client has its share
        let next = line.leave(try #require(places[3])).map(\.0)
        #expect(begins && next == [second])
        _ = line.begin(2, most: 2)
        #expect(line.leave(second).isEmpty)
        let afterOne = line.finish(1).map(\.0)
        #expect(afterOne == [first])
        let afterTwo = line.leave(first).map(\.0)
        #expect(afterTwo == [third])
        var tickets: Set<WaitingTicket> = []
        while tickets.count < 10_000, let ticket = line.enter(4, most: 2, ()) { tickets.insert(ticket) }
        #expect(tickets.count == 4_095)
    }

    private func key(_ session: UInt128, _ question: UInt128 = 1) -> PolicyDecisions.Key {
        PolicyDecisions.Key(session: session, question: question)
    }

    @Test func untilItsTime() {
        var decisions = PolicyDecisions()
        decisions.keep(key(1), allows: true, until: 100, for: 7, asked: 0, now: 0)
        decisions.keep(key(1, 2), allows: false, until: 100, for: 7, asked: 0, now: 0)
        #expect(decisions.allows(key(1), now: 99) == true && decisions.allows(key(1, 2), now: 99) == false)
        #expect(decisions.allows(key(1), now: 100) == nil && decisions.allows(key(2), now: 0) == nil)
        decisions.keep(key(3), allows: true, until: 50, for: 7, asked: 0, now: 50)
        #expect(decisions.count == 2)
    }

    /// A reload may have made `max_age` shorter since a decision was kept.
    @Test func noOlderThanIsSaidNow() {
        var decisions = PolicyDecisions()
        decisions.keep(key(1), allows: true, until: 1_000, for: 7, asked: 0, now: 100)
        #expect(decisions.allows(key(1), now: 199, maxAge: 100) == true)
        #expect(decisions.allows(key(1), now: 200, maxAge: 100) == nil)
        #expect(decisions.allows(key(1), now: 200, maxAge: 101) == true)
    }

    /// What was asked while a session ended is not kept: it may have been that one's.
    @Test func theEndOfASession() {
        var decisions = PolicyDecisions()
        decisions.keep(key(1), allows: true, until: 100, for: 7, asked: 0, now: 0)
        decisions.keep(key(2), allows: true, until: 100, for: 7, asked: 0, now: 0)
        let asked = decisions.generation
        decisions.end(sessions: [1])
        #expect(decisions.allows(key(1), now: 1) == nil && decisions.allows(key(2), now: 1) == true)
        decisions.keep(key(1), allows: true, until: 100, for: 7, asked: asked, now: 1)
        #expect(decisions.allows(key(1), now: 1) == nil && decisions.count == 1)
    }

    /// More sessions may end than are remembered: what was asked before that is kept for none of them.
    @Test func moreSessionsEndThanAreRemembered() {
        var decisions = PolicyDecisions(most: 8)
        let asked = decisions.generation
        for number in 0..<8 { decisions.end(sessions: [UInt128(100 + number)]) }
        decisions.keep(key(1), allows: true, until: 100, for: 7, asked: asked, now: 0)
        #expect(decisions.allows(key(1), now: 0) == true)
        decisions.end(sessions: [108])
        decisions.keep(key(2), allows: true, until: 100, for: 7, asked: asked, now: 0)
        #expect(decisions.allows(key(2), now: 0) == nil)
        decisions.keep(key(2), allows: true, until: 100, for: 7, asked: decisions.generation, now: 0)
        #expect(decisions.allows(key(2), now: 0) == true)
    }

    @Test func theEndOfAll() {
        var decisions = PolicyDecisions(most: 8)
        for number in 0..<4 {
            decisions.keep(key(UInt128(number)), allows: true, until: 100, for: 7, asked: 0, now: 0)
        }
        let asked = decisions.generation
        decisions.endAll()
        #expect(decisions.count == 0)
        decisions.keep(key(1), allows: true, until: 100, for: 7, asked: asked, now: 0)
        #expect(decisions.count == 0)
        // what the client had counts no more
        for number in 0..<2 {
            decisions.keep(key(UInt128(number)), allows: true, until: 100, for: 7, asked: decisions.generation, now: 0)
        }
        #expect(decisions.count == 2)
    }

    @Test func aClientPushesOutItsOwnAlone() {
        var decisions = PolicyDecisions(most: 64)
        decisions.keep(key(1), allows: true, until: 1, for: 1, asked: 0, now: 0)
        for number in 0..<1000 {
            decisions.keep(key(2, UInt128(number)), allows: true, until: 1000 + number, for: 2, asked: 0, now: 0)
        }
        #expect(decisions.count <= 1 + 16 && decisions.allows(key(1), now: 0) == true)
        #expect(decisions.allows(key(2, 999), now: 0) == true && decisions.allows(key(2, 0), now: 0) == nil)
    }

    @Test func thereIsAnEnd() {
        var decisions = PolicyDecisions(most: 64)
        for number in 0..<1000 {
            decisions.keep(key(UInt128(number)), allows: true, until: 100, for: number % 50, asked: 0, now: 0)
        }
        #expect(decisions.count <= 64)
        // what is over makes room first
        decisions.keep(key(5000), allows: true, until: 900, for: 99, asked: 0, now: 200)
        #expect(decisions.count == 1)
    }

    @Test func theSameOnceMoreIsOne() {
        var decisions = PolicyDecisions(most: 64)
        for _ in 0..<100 { decisions.keep(key(1), allows: true, until: 100, for: 1, asked: 0, now: 0) }
        #expect(decisions.count == 1)
    }

    @Test func placesAmongThoseWhoAsk() {
        var line = QuestionLine<Void>()
        let first = (0..<4).map { _ in line.begin(1, most: 4) }
        #expect(first == [true, true, false, false])
        let others = [2, 3, 4].map { line.begin($0, most: 4) }
        #expect(others == [true, true, false])
        _ = line.finish(1)
        let next = [4, 1].map { line.begin($0, most: 4) }
        #expect(next == [true, false])
        var lone = QuestionLine<Void>()
        let pair = [1, 2].map { lone.begin($0, most: 1) }
        #expect(pair == [true, false])
        _ = lone.finish(1)
        let after = lone.begin(2, most: 1)
        #expect(after)
    }
}
