import EventLoop
import Testing

@Suite("Racing addresses")
struct AddressRaceTests {
    private func four(_ last: UInt8) -> SocketAddress { SocketAddress(address: [192, 0, 2, last], port: 80) }
    private func six(_ last: UInt8) -> SocketAddress {
        SocketAddress(address: [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [last], port: 80)
    }

    private func race(_ addresses: [SocketAddress], isComplete: Bool = true) -> AddressRace {
        var race = AddressRace()
        race.add(addresses, isComplete: isComplete, now: 1000)
        return race
    }

    @Test func theFamiliesTakeTurns() {
        var race = race([six(1), six(2), six(3), four(1), four(2)])
        var order: [SocketAddress] = []
        var now = 1000
        while case .connect(let address) = race.next(now: now) {
            order.append(address)
            now += 250
        }
        #expect(order == [six(1), four(1), six(2), four(2), six(3)])
        #expect(race.next(now: now) == .wait(until: nil))
    }

    @Test func neitherFamilyIsWithoutABound() {
        for address in [four, six] {
            var race = race((0..<40).map { address($0) })
            var count = 0
            while case .connect = race.next(now: 1000 + count * 250) { count += 1 }
            #expect(count == 16)
        }
    }

    @Test func theFirstFamilyLeads() {
        var race = race([four(1), four(2), six(1)])
        #expect(race.next(now: 1000) == .connect(four(1)) && race.next(now: 1250) == .connect(six(1)))
        #expect(race.next(now: 1500) == .connect(four(2)))
    }

    @Test func eachAttemptHasItsTime() {
        var race = race([six(1), four(1)])
        #expect(race.next(now: 1000) == .connect(six(1)))
        #expect(race.next(now: 1000) == .wait(until: 1250) && race.next(now: 1249) == .wait(until: 1250))
        #expect(race.next(now: 1250) == .connect(four(1)))
        #expect(race.next(now: 1250) == .wait(until: nil))
    }

    @Test func afterAFailureTheNextBeginsAtOnce() {
        var race = race([six(1), four(1), six(2)])
        #expect(race.next(now: 1000) == .connect(six(1)))
        race.failed(now: 1003)
        #expect(race.next(now: 1003) == .connect(four(1)) && race.next(now: 1003) == .wait(until: 1253))
        #expect(race.next(now: 1253) == .connect(six(2)))
        race.failed(now: 1260)
        // one is still under way
        #expect(race.next(now: 1260) == .wait(until: nil))
        race.failed(now: 5000)
        #expect(race.next(now: 5000) == .exhausted)
    }

    @Test func withoutAddressesThereIsNoRace() {
        var nothing = race([])
        #expect(nothing.next(now: 1000) == .exhausted)
        var later = AddressRace()
        #expect(later.next(now: 1000) == .wait(until: nil))
        later.add([], isComplete: true, now: 1400)
        #expect(later.next(now: 1400) == .exhausted)
    }

    @Test func shortAddressesWaitForLongOnes() {
        var race = race([four(1), four(2)], isComplete: false)
        #expect(race.next(now: 1000) == .wait(until: 1050) && race.next(now: 1049) == .wait(until: 1050))
        race.add([six(1)], isComplete: true, now: 1049)
        #expect(race.next(now: 1049) == .connect(six(1)) && race.next(now: 1049) == .wait(until: 1299))
        #expect(race.next(now: 1299) == .connect(four(1)))
    }

    @Test func butNotForLong() {
        var race = race([four(1), four(2)], isComplete: false)
        #expect(race.next(now: 1050) == .connect(four(1)))
        race.add([six(1)], isComplete: true, now: 1100)
        #expect(race.next(now: 1100) == .wait(until: 1300) && race.next(now: 1300) == .connect(six(1)))
    }

    @Test func whenThereAreNoLongOnesTheWaitIsOver() {
        var race = race([four(1)], isComplete: false)
        race.add([], isComplete: true, now: 1010)
        #expect(race.next(now: 1010) == .connect(four(1)))
    }

    @Test func longAddressesWaitForNothing() {
        var race = race([six(1)], isComplete: false)
        #expect(race.next(now: 1000) == .connect(six(1)) && race.next(now: 1000) == .wait(until: nil))
        race.failed(now: 1001)
        // the others may still come
        #expect(race.next(now: 1001) == .wait(until: nil))
        race.add([four(1)], isComplete: true, now: 1300)
        #expect(race.next(now: 1300) == .connect(four(1)))
    }

    @Test func anAddressIsTriedOnceAndNotEveryOne() {
        var race = race((0...255).map { four($0) } + [four(0)])
        var order: [SocketAddress] = []
        while case .connect(let address) = race.next(now: 1000) {
            order.append(address)
            race.failed(now: 1000)
        }
        #expect(order == (0..<16).map { four($0) })
        #expect(race.next(now: 1000) == .exhausted)
    }
}
