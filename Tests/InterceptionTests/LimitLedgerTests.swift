import Testing

@testable import Interception

/// Who goes, who waits and who is refused, without a clock and without a loop.
@Suite("Limits")
struct LimitLedgerTests {
    private func policy(
        _ rate: String? = nil, burst: Int? = nil, concurrency: Int? = nil, wait: Int? = nil, queue: Int = 100
    ) -> LimitPolicy {
        var policy = LimitPolicy(rate: rate.flatMap { .init($0) }, concurrency: concurrency)
        policy.burst = burst
        policy.wait = wait
        policy.queue = queue
        return policy
    }

    private func key(
        _ policy: LimitPolicy, _ subject: String = "", name: String = "gate", number: Int = 0
    ) -> LimitKey {
        LimitKey(LimitWish(interceptor: name, number: number, policy: policy), subject: subject)
    }

    /// A ledger whose clock stands where it is put; waiters are numbers.
    private final class Desk {
        var ledger = LimitLedger<Int>(capacity: 8)
        var now = 0
        var turns: [Int] = []

        func ask(_ key: LimitKey, _ policy: LimitPolicy, _ waiter: Int = 0) -> (WaitingTicket?, LimitAnswer) {
            let asked = ledger.ask(key, policy, waiter, now: now)
            turns += asked.turns.map(\.1)
            return (asked.ticket, asked.answer)
        }

        func look(_ ticket: WaitingTicket?) -> LimitAnswer? {
            ticket.map {
                let looked = ledger.look($0, now: now)
                turns += looked.turns.map(\.1)
                return looked.answer
            }
        }

        func leave(_ ticket: WaitingTicket?) {
            if let ticket { turns += ledger.leave(ticket, now: now).map(\.1) }
        }
    }

    @Test func ratesAsTheyAreWritten() {
        for (text, count) in [("10/s", 10), ("100/m", 100), ("1/h", 1), ("1000000/s", 1_000_000)] {
            #expect(LimitPolicy.Rate(text)?.count == count)
        }
        for text in ["", "10", "10/", "/s", "10/d", "0/s", "-1/s", "+1/s", "1000001/s", "10 /s", "10/s/s", "1.5/s"] {
            #expect(LimitPolicy.Rate(text) == nil, "\(text)")
        }
    }

    @Test("So many at once, and then one after another")
    func rate() {
        let desk = Desk()
        let policy = policy("10/s")
        for _ in 0..<10 { #expect(desk.ask(key(policy), policy).1 == .go) }
        #expect(desk.ask(key(policy), policy).1 == .refused(milliseconds: 100))
        desk.now = 99
        #expect(desk.ask(key(policy), policy).1 == .refused(milliseconds: 1))
        desk.now = 100
        #expect(desk.ask(key(policy), policy).1 == .go)
        #expect(desk.ask(key(policy), policy).1 == .refused(milliseconds: 100))
        // a second that nobody uses buys no more than the burst
        desk.now = 100_000
        #expect((0..<20).count { _ in desk.ask(key(policy), policy).1 == .go } == 10)
    }

    @Test func aBurstOfItsOwn() {
        let desk = Desk()
        let policy = policy("100/m", burst: 2)
        #expect(
            (0..<5).map { _ in desk.ask(key(policy), policy).1 }.prefix(3) == [.go, .go, .refused(milliseconds: 600)])
    }

    @Test("Who waits for the rate goes in turn, and asking sooner does not help")
    func waitingForTheRate() {
        let desk = Desk()
        let policy = policy("10/s", burst: 1, wait: 250)
        #expect(desk.ask(key(policy), policy).1 == .go)
        let (first, answer) = desk.ask(key(policy), policy, 1)
        let (second, later) = desk.ask(key(policy), policy, 2)
        #expect(answer == .wait(milliseconds: 100) && later == .wait(milliseconds: 200))
        // a third would wait longer than it may
        #expect(desk.ask(key(policy), policy, 3).1 == .refused(milliseconds: 300))
        desk.now = 100
        #expect(desk.look(second) == .wait(milliseconds: 100) && desk.turns == [1])
        #expect(desk.look(first) == .go && desk.turns == [1])
        desk.now = 200
        #expect(desk.look(second) == .go && desk.turns == [1], "who asks is not told beside")
    }

    @Test func oneThatDoesNotWaitAnyMoreMakesRoom() {
        let desk = Desk()
        let policy = policy("10/s", burst: 1, wait: 1000)
        _ = desk.ask(key(policy), policy)
        let (first, _) = desk.ask(key(policy), policy, 1)
        let (second, _) = desk.ask(key(policy), policy, 2)
        desk.leave(first)
        #expect(desk.look(second) == .wait(milliseconds: 100))
        desk.now = 100
        #expect(desk.look(second) == .go)
        #expect(desk.look(first) == .refused(milliseconds: nil), "it has given its place up")
    }

    @Test("So many at a time: whoever ends lets the first of those that wait go")
    func concurrency() {
        let desk = Desk()
        let policy = policy(concurrency: 2, wait: 1000, queue: 2)
        let first = desk.ask(key(policy), policy).0
        let second = desk.ask(key(policy), policy).0
        let (third, answer) = desk.ask(key(policy), policy, 3)
        let fourth = desk.ask(key(policy), policy, 4).0
        #expect(answer == .wait(milliseconds: nil))
        #expect(desk.ask(key(policy), policy, 5).1 == .refused(milliseconds: nil), "two wait at a time")
        desk.leave(first)
        #expect(desk.turns == [3] && desk.look(third) == .go && desk.look(fourth) == .wait(milliseconds: nil))
        desk.leave(first)
        #expect(desk.turns == [3], "nobody leaves twice")
        desk.leave(third)
        desk.leave(second)
        #expect(desk.turns == [3, 4])
        desk.leave(fourth)
        #expect(desk.ledger.count == 0 && desk.ledger.requests == 0)
    }

    @Test func bothAtOnce() {
        let desk = Desk()
        let policy = policy("1/s", concurrency: 1, wait: 5000)
        let first = desk.ask(key(policy), policy).0
        let (second, answer) = desk.ask(key(policy), policy, 2)
        #expect(answer == .wait(milliseconds: 1000))
        desk.leave(first)
        #expect(desk.turns.isEmpty, "the rate has no try yet")
        desk.now = 1000
        #expect(desk.look(second) == .go)
        desk.now = 5000
        let (third, held) = desk.ask(key(policy), policy, 3)
        #expect(held == .wait(milliseconds: nil))
        desk.leave(second)
        #expect(desk.turns == [3] && desk.look(third) == .go)
    }

    @Test func keysAreCountedApart() {
        let desk = Desk()
        let policy = policy(concurrency: 1)
        #expect(desk.ask(key(policy, "a"), policy).1 == .go && desk.ask(key(policy, "b"), policy).1 == .go)
        #expect(desk.ask(key(policy, "a", name: "other"), policy).1 == .go)
        #expect(desk.ask(key(policy, "a", number: 1), policy).1 == .go)
        #expect(desk.ask(key(policy, "a"), policy).1 == .refused(milliseconds: nil))
    }

    @Test("A configuration that is reloaded goes on counting")
    func anotherPolicy() {
        let desk = Desk()
        let old = policy("10/s", concurrency: 3)
        for _ in 0..<3 { #expect(desk.ask(key(old), old).1 == .go) }
        let new = policy("10/s", concurrency: 4)
        #expect(desk.ask(key(new), new).1 == .go)
        #expect(desk.ask(key(new), new).1 == .refused(milliseconds: nil))
        let strict = policy("1/h", burst: 1)
        #expect(desk.ask(key(strict), strict).1 == .go, "what was left of the rate is cut to the new burst")
        guard case .refused(let wait?) = desk.ask(key(strict), strict).1 else { return #expect(Bool(false)) }
        #expect(wait == 3_600_000)
    }

    @Test("A configuration that is reloaded brings a rate, and takes it away")
    func aRateThatComesAndGoes() {
        let desk = Desk()
        let without = policy(concurrency: 100)
        #expect(desk.ask(key(without), without).1 == .go)
        let rate = policy("1/h", burst: 1, concurrency: 100)
        #expect(desk.ask(key(rate), rate).1 == .go)
        #expect(desk.ask(key(rate), rate).1 == .refused(milliseconds: 3_600_000))
        #expect(desk.ask(key(without), without).1 == .go)
    }

    @Test("Keys are remembered as long as that says something, and never without bound")
    func memory() {
        let desk = Desk()
        let rate = policy("10/s")
        for number in 0..<100 {
            let (ticket, _) = desk.ask(key(rate, "\(number)"), rate)
            desk.leave(ticket)
            #expect(desk.ledger.count <= 8)
        }
        #expect(desk.ledger.requests == 0)
        // whoever is under way is not forgotten
        let one = policy(concurrency: 1)
        for number in 0..<20 { _ = desk.ask(key(one, "\(number)"), one) }
        for number in 0..<20 { #expect(desk.ask(key(one, "\(number)"), one).1 == .refused(milliseconds: nil)) }
    }

    @Test func whoHasAllOfItsTriesIsForgottenLast() {
        let desk = Desk()
        let rate = policy("1/h")
        let spent = desk.ask(key(rate, "spent"), rate).0
        desk.leave(spent)
        #expect(desk.ledger.count == 1, "its try has not come back")
        for number in 0..<50 {
            let half = policy("2/h")
            desk.leave(desk.ask(key(half, "\(number)"), half).0)
        }
        #expect(desk.ask(key(rate, "spent"), rate).1 != .go)
    }
}
