import EventLoop
import Testing

@Suite("Names that a loop knows")
struct NameCacheTests {
    private final class Asker {}
    private let first = Asker()
    private let second = Asker()
    private let four = SocketAddress(address: [192, 0, 2, 1], port: 0)
    private let six = SocketAddress(address: [UInt8](repeating: 1, count: 16), port: 0)

    private func answer(
        _ addresses: [SocketAddress], life: UInt32 = 60, isComplete: Bool = true, of host: String = "a"
    ) -> Resolver.Answer {
        Resolver.Answer(host: host, addresses: addresses, timeToLive: life, isComplete: isComplete)
    }

    private func failure(_ failure: Resolver.Failure) -> Resolver.Answer {
        Resolver.Answer(host: "a", addresses: [], timeToLive: 0, failure: failure)
    }

    @Test func oneQuestionForAllWhoAsk() {
        var cache = NameCache<Asker>()
        #expect(cache.find("a", for: first, now: 0) == .unasked)
        #expect(cache.find("a", for: second, now: 5000) == .waiting)
        let told = cache.take(answer([four]), now: 6000)
        #expect(told.count == 2 && told[0] === first && told[1] === second)
        #expect(cache.find("a", for: first, now: 6000) == .known([four], isComplete: true))
        #expect(cache.take(answer([six]), now: 6000).isEmpty)
    }

    @Test(arguments: [(0, 1), (1, 1), (60, 60), (3600, 3600), (3601, 3600), (UInt32.max, 3600)])
    func addressesAreKeptForTheirTime(_ life: UInt32, _ seconds: Int) {
        var cache = NameCache<Asker>()
        _ = cache.find("a", for: first, now: 0)
        _ = cache.take(answer([four], life: life), now: 500)
        #expect(cache.find("a", for: first, now: 499 + seconds * 1000) == .known([four], isComplete: true))
        #expect(cache.find("a", for: first, now: 500 + seconds * 1000) == .unasked)
        #expect(cache.find("a", for: second, now: 500 + seconds * 1000) == .waiting)
    }

    @Test func theLeastTimeOfBothFamiliesCounts() {
        var cache = NameCache<Asker>()
        _ = cache.find("a", for: first, now: 0)
        #expect(cache.take(answer([four], life: 10, isComplete: false), now: 0).count == 1)
        #expect(cache.find("a", for: second, now: 20_000) == .known([four], isComplete: false))
        #expect(cache.take(answer([six], life: 600), now: 20_000).count == 2)
        #expect(cache.find("a", for: first, now: 20_000) == .unasked)
    }

    @Test func theLastWordMayAddNothing() {
        var cache = NameCache<Asker>()
        _ = cache.find("a", for: first, now: 0)
        _ = cache.take(answer([four], life: 10, isComplete: false), now: 0)
        #expect(cache.take(answer([], life: .max), now: 100).count == 1)
        #expect(cache.find("a", for: first, now: 9999) == .known([four], isComplete: true))
        #expect(cache.find("a", for: first, now: 10_000) == .unasked)
    }

    @Test func failuresAreKeptForSeconds() {
        var cache = NameCache<Asker>()
        _ = cache.find("a", for: first, now: 0)
        #expect(cache.take(failure(.unknown("no")), now: 100).count == 1)
        #expect(cache.find("a", for: first, now: 3099) == .failed(.unknown("no")))
        #expect(cache.find("a", for: first, now: 3100) == .unasked)
    }

    @Test func tooManyQuestionsSayNothingOfTheName() {
        var cache = NameCache<Asker>()
        _ = cache.find("a", for: first, now: 0)
        #expect(cache.take(failure(.overloaded), now: 0).count == 1)
        #expect(cache.count == 0 && cache.find("a", for: first, now: 0) == .unasked)
    }

    @Test func whoHasGoneIsNotTold() {
        var cache = NameCache<Asker>()
        _ = cache.find("a", for: first, now: 0)
        _ = cache.find("a", for: second, now: 0)
        cache.forget("a", first)
        cache.forget("b", first)
        let told = cache.take(answer([four]), now: 0)
        #expect(told.count == 1 && told.first === second)
        // the answer serves others all the same
        _ = cache.find("b", for: first, now: 0)
        cache.forget("b", first)
        #expect(cache.take(answer([six], of: "b"), now: 0).isEmpty)
        #expect(cache.find("b", for: first, now: 0) == .known([six], isComplete: true))
    }

    @Test func thereIsRoomForSoManyNames() {
        var cache = NameCache<Asker>(capacity: 2)
        _ = cache.find("a", for: first, now: 0)
        _ = cache.find("b", for: first, now: 0)
        // both are being asked for
        #expect(cache.find("c", for: first, now: 0) == .failed(.overloaded))
        _ = cache.take(answer([four], life: 20, of: "a"), now: 0)
        _ = cache.take(answer([four], life: 10, of: "b"), now: 0)
        #expect(cache.find("c", for: first, now: 0) == .unasked && cache.count == 2)
        #expect(cache.find("a", for: first, now: 0) == .known([four], isComplete: true))
        // what is out of date goes first
        #expect(cache.find("d", for: first, now: 20_000) == .unasked && cache.count == 2)
        #expect(cache.find("c", for: second, now: 20_000) == .waiting)
    }
}
