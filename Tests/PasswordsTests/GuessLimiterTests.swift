import Addresses
import Passwords
import Testing

@Suite("Guessing")
struct GuessLimiterTests {
    private func guess(_ user: String, _ client: String? = "192.0.2.1") -> GuessLimiter.Guess {
        GuessLimiter.Guess(client: client.flatMap { IPAddress($0) }, user: Array(user.utf8))
    }

    /// Tries until there is none; how many there were.
    private func spend(
        _ limiter: inout GuessLimiter, now: Int = 0, most: Int = 1_000, _ guess: (Int) -> GuessLimiter.Guess
    ) -> Int {
        for number in 0..<most {
            if case .wait = limiter.take(guess(number), now: now) { return number }
        }
        return most
    }

    @Test func triesRunOutAndComeBack() {
        var limiter = GuessLimiter(burst: 3, interval: 1_000)
        for _ in 0..<3 { #expect(limiter.take(guess("a"), now: 0) == .taken(isProven: false)) }
        #expect(limiter.take(guess("a"), now: 0) == .wait(1_000))
        #expect(limiter.take(guess("a"), now: 400) == .wait(600))
        #expect(limiter.take(guess("a"), now: 1_000) == .taken(isProven: false))
        #expect(limiter.take(guess("a"), now: 1_000) == .wait(1_000))
        #expect(spend(&limiter, now: 100_000) { _ in guess("a") } == 3)
    }

    @Test func aRightOneDoesNotCount() {
        var limiter = GuessLimiter(burst: 2, interval: 1_000)
        for _ in 0..<10 {
            #expect(limiter.take(guess("a"), now: 0) == .taken(isProven: false))
            limiter.giveBack(guess("a"), isProven: false, now: 0)
        }
        #expect(limiter.count == 0, "whoever has all of its tries needs no memory")
    }

    @Test func manyUsersAtOneNetworkAreNoWayAround() {
        var limiter = GuessLimiter(burst: 3, interval: 1_000)
        #expect(spend(&limiter) { guess("user \($0)") } == 3)
        #expect(limiter.take(guess("a", "::ffff:192.0.2.1"), now: 0) == .wait(1_000))
        #expect(limiter.take(guess("a", "192.0.2.2"), now: 0) == .taken(isProven: false))
        // one client commands the lower half of an IPv6 address
        #expect(spend(&limiter) { guess("v6 \($0)", "2001:db8::\($0)") } == 3)
        #expect(limiter.take(guess("b", "2001:db8:0:1::1"), now: 0) == .taken(isProven: false))
    }

    @Test func manyAddressesOfLoopbackAreOne() {
        var limiter = GuessLimiter()
        #expect(spend(&limiter) { guess("user \($0)", "127.0.\($0 / 200).\($0 % 200 + 1)") } == 10)
        #expect(limiter.take(guess("other", "::1"), now: 0) == .wait(5_000))
    }

    @Test func manyAddressesOfASiteAreNoWayAround() {
        var limiter = GuessLimiter()
        #expect(spend(&limiter) { guess("user \($0)", "192.0.2.\($0 % 256)") } == 40)
        #expect(limiter.take(guess("other", "192.0.3.1"), now: 0) == .taken(isProven: false))
        #expect(spend(&limiter) { guess("v6 \($0)", "2001:db8:0:\($0)::1") } == 40)
    }

    @Test func manyAddressesAtOneUserAreNoWayAround() {
        var limiter = GuessLimiter()
        #expect(spend(&limiter) { guess("alice", "10.0.\($0).1") } == 20)
        #expect(limiter.take(guess("bob", "10.0.9.1"), now: 0) == .taken(isProven: false))
        #expect(spend(&limiter) { _ in guess("nobody", nil) } == 20, "whose address is not known is counted by user")
    }

    @Test func whoProvedItselfIsNotRefusedForOthers() {
        var limiter = GuessLimiter()
        limiter.proved(guess("alice"), now: 0)
        #expect(limiter.isProven(guess("alice"), now: 0) && !limiter.isProven(guess("alice", "192.0.3.1"), now: 0))
        // its network, its site and its name are spent by others
        #expect(spend(&limiter) { guess("user \($0)") } == 10)
        #expect(spend(&limiter) { guess("alice", "10.0.\($0).1") } == 20)
        for _ in 0..<100 {
            #expect(limiter.take(guess("alice"), now: 0) == .taken(isProven: true))
            limiter.giveBack(guess("alice"), isProven: true, now: 0)
        }
        // from elsewhere it is anybody
        #expect(limiter.take(guess("alice", "192.0.3.1"), now: 0) == .wait(5_000))
    }

    @Test func whoProvedItselfMayNotBeGuessedForEver() {
        var limiter = GuessLimiter()
        limiter.proved(guess("alice"), now: 0)
        #expect(spend(&limiter) { _ in guess("alice") } == 10)
        #expect(limiter.take(guess("bob"), now: 0) == .taken(isProven: false), "nobody else pays for that")
    }

    @Test func provingHasAnEnd() {
        var limiter = GuessLimiter(memory: 1_000)
        limiter.proved(guess("alice"), now: 0)
        #expect(limiter.isProven(guess("alice"), now: 999) && !limiter.isProven(guess("alice"), now: 1_000))
    }

    @Test func itsMemoryIsBounded() {
        var limiter = GuessLimiter(burst: 2, interval: 1_000, capacity: 100)
        #expect(spend(&limiter) { _ in guess("a") } == 2)
        for number in 0..<1_000 {
            let one = guess("user \(number)", "10.\(number / 250).\(number % 250).1")
            _ = limiter.take(one, now: 0)
            limiter.proved(one, now: number)
            #expect(limiter.count <= 100)
        }
        #expect(limiter.take(guess("b"), now: 0) != .taken(isProven: false), "who guessed most is remembered longest")
        #expect(limiter.isProven(guess("user 999", "10.3.249.1"), now: 1_000))
    }
}

@Suite("What is remembered for a while")
struct RecentSetTests {
    @Test func valuesAreForgotten() {
        var recent = RecentSet<Int>(life: 100, capacity: 3)
        recent.remember(1, now: 0)
        #expect(recent.holds(1, now: 99) && !recent.holds(1, now: 100) && !recent.holds(2, now: 0))
        recent.remember(1, now: 99)
        #expect(recent.holds(1, now: 150))
        for value in 2..<50 {
            recent.remember(value, now: 150 + value)
            #expect(recent.count <= 3 && recent.holds(value, now: 150 + value))
        }
        #expect(!recent.holds(1, now: 160), "the oldest go first")
    }
}

@Suite("The queue of passwords")
struct CheckQueueTests {
    private func network(_ number: Int) -> AddressBlock { AddressBlock(IPAddress(family: .v4, bits: UInt128(number))) }

    @Test func provenOnesGoFirst() {
        var queue = CheckQueue<String>()
        queue.add("a", of: network(1), isProven: false)
        queue.add("b", of: network(2), isProven: true)
        queue.add("c", of: network(1), isProven: false)
        queue.add("d", of: network(1), isProven: true)
        #expect((0..<5).map { _ in queue.next() } == ["b", "d", "a", "c", nil] && queue.isEmpty)
    }

    @Test func clientsTakeTurns() {
        var queue = CheckQueue<String>()
        for name in ["a1", "a2", "a3"] { queue.add(name, of: network(1), isProven: false) }
        for name in ["b1", "b2"] { queue.add(name, of: network(2), isProven: false) }
        #expect(queue.next() == "a1")
        queue.add("c1", of: nil, isProven: false)
        #expect((0..<6).map { _ in queue.next() } == ["b1", "a2", "c1", "b2", "a3", nil] && queue.isEmpty)
        queue.add("a4", of: network(1), isProven: false)
        #expect(queue.count == 1 && queue.next() == "a4")
    }

    @Test func noClientFillsIt() {
        var queue = CheckQueue<Int>(capacity: 10, reserve: 2, share: 3)
        for number in 0..<3 {
            #expect(queue.hasRoom(for: network(1), isProven: false))
            queue.add(number, of: network(1), isProven: false)
        }
        #expect(!queue.hasRoom(for: network(1), isProven: false) && queue.hasRoom(for: network(2), isProven: false))
        #expect(queue.hasRoom(for: network(1), isProven: true), "guesses of others at its address")
        #expect(queue.next() == 0 && queue.hasRoom(for: network(1), isProven: false))
    }

    @Test func aReserveIsForThoseWhoProvedThemselves() {
        var queue = CheckQueue<Int>(capacity: 10, reserve: 2, share: 3)
        var number = 0
        while queue.hasRoom(for: network(number), isProven: false) {
            queue.add(number, of: network(number), isProven: false)
            number += 1
        }
        #expect(number == 8)
        for _ in 0..<2 {
            #expect(queue.hasRoom(for: network(99), isProven: true))
            queue.add(99, of: network(99), isProven: true)
        }
        #expect(!queue.hasRoom(for: network(98), isProven: true) && queue.count == 10)
    }
}
