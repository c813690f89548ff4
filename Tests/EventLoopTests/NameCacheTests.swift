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
        _ addresses: [SocketAddress], life: Int = 60, isComplete: Bool = true, of host: String = "a"
    ) -> NameAnswer {
        NameAnswer(host: host, addresses: addresses, timeToLive: life, isComplete: isComplete)
    }

    private func failure(_ failure: NameFailure) -> NameAnswer {
        NameAnswer(host: "a", addresses: [], timeToLive: 0, failure: failure)
    }

    @Test func oneQuestionForAllWhoAsk() {
        var cache = NameCache<Asker, String>()
        #expect(cache.find("a", for: first, of: nil, now: 0) == .unasked)
        #expect(cache.find("a", for: second, of: nil, now: 5000) == .waiting)
        let told = cache.take(answer([four]), now: 6000)
        #expect(told.count == 2 && told[0] === first && told[1] === second)
        #expect(cache.find("a", for: first, of: nil, now: 6000) == .known([four], isComplete: true))
        #expect(cache.take(answer([six]), now: 6000).isEmpty)
    }

    @Test(arguments: [(0, 1), (1, 1), (60, 60), (3600, 3600), (3601, 3600), (Int.max, 3600)])
    func addressesAreKeptForTheirTime(_ life: Int, _ seconds: Int) {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        _ = cache.take(answer([four], life: life), now: 500)
        #expect(cache.find("a", for: first, of: nil, now: 499 + seconds * 1000) == .known([four], isComplete: true))
        #expect(cache.find("a", for: first, of: nil, now: 500 + seconds * 1000) == .unasked)
        #expect(cache.find("a", for: second, of: nil, now: 500 + seconds * 1000) == .waiting)
    }

    @Test func theLeastTimeOfBothFamiliesCounts() {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        #expect(cache.take(answer([four], life: 10, isComplete: false), now: 0).count == 1)
        #expect(cache.find("a", for: second, of: nil, now: 20_000) == .known([four], isComplete: false))
        #expect(cache.take(answer([six], life: 600), now: 20_000).count == 2)
        #expect(cache.find("a", for: first, of: nil, now: 20_000) == .unasked)
    }

    @Test func theLastWordMayAddNothing() {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        _ = cache.take(answer([four], life: 10, isComplete: false), now: 0)
        #expect(cache.take(answer([], life: .max), now: 100).count == 1)
        #expect(cache.find("a", for: first, of: nil, now: 9999) == .known([four], isComplete: true))
        #expect(cache.find("a", for: first, of: nil, now: 10_000) == .unasked)
    }

    @Test func failuresAreKeptForSeconds() {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        #expect(cache.take(failure(.unknown("no", rcode: nil)), now: 100).count == 1)
        #expect(cache.find("a", for: first, of: nil, now: 3099) == .failed(.unknown("no", rcode: nil)))
        #expect(cache.find("a", for: first, of: nil, now: 3100) == .unasked)
    }

    @Test func eachClientHasItsShareOfQuestions() {
        var cache = NameCache<Asker, String>(share: 2)
        #expect(cache.find("a", for: first, of: "one", now: 0) == .unasked)
        #expect(cache.find("b", for: first, of: "one", now: 0) == .unasked)
        #expect(cache.find("c", for: first, of: "one", now: 0) == .failed(.tooMany))
        // what others have asked costs nothing, and others have shares of their own
        #expect(cache.find("c", for: second, of: "other", now: 0) == .unasked)
        #expect(cache.find("c", for: first, of: "one", now: 0) == .waiting)
        #expect(cache.find("d", for: first, of: nil, now: 0) == .unasked)
        // a share comes back with the last answer
        _ = cache.take(answer([four], isComplete: false), now: 0)
        #expect(cache.find("e", for: first, of: "one", now: 0) == .failed(.tooMany))
        _ = cache.take(answer([six]), now: 0)
        #expect(cache.find("e", for: first, of: "one", now: 0) == .unasked)
        #expect(cache.find("f", for: first, of: "one", now: 0) == .failed(.tooMany))
        // what is known needs none, whoever has gone
        #expect(cache.find("a", for: first, of: "one", now: 0) == .known([four, six], isComplete: true))
        cache.forget("b", first)
        #expect(cache.find("f", for: first, of: "one", now: 0) == .failed(.tooMany))
        _ = cache.take(answer([four], of: "b"), now: 0)
        #expect(cache.find("f", for: first, of: "one", now: 0) == .unasked)
    }

    @Test func answersAreForgottenAndQuestionsAreNot() {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        _ = cache.take(answer([four]), now: 0)
        _ = cache.find("b", for: first, of: nil, now: 0)
        cache.forgetAnswers()
        #expect(cache.find("a", for: first, of: nil, now: 0) == .unasked)
        #expect(cache.take(answer([six], of: "b"), now: 0).count == 1)
    }

    @Test func whoHasGoneIsNotTold() {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        _ = cache.find("a", for: second, of: nil, now: 0)
        cache.forget("a", first)
        cache.forget("b", first)
        let told = cache.take(answer([four]), now: 0)
        #expect(told.count == 1 && told.first === second)
        // the answer serves others all the same
        _ = cache.find("b", for: first, of: nil, now: 0)
        cache.forget("b", first)
        #expect(cache.take(answer([six], of: "b"), now: 0).isEmpty)
        #expect(cache.find("b", for: first, of: nil, now: 0) == .known([six], isComplete: true))
    }

    @Test func thereIsRoomForSoManyNames() {
        var cache = NameCache<Asker, String>(capacity: 2)
        _ = cache.find("a", for: first, of: nil, now: 0)
        _ = cache.find("b", for: first, of: nil, now: 0)
        // both are being asked for
        #expect(cache.find("c", for: first, of: nil, now: 0) == .failed(.overloaded))
        _ = cache.take(answer([four], life: 20, of: "a"), now: 0)
        _ = cache.take(answer([four], life: 10, of: "b"), now: 0)
        #expect(cache.find("c", for: first, of: nil, now: 0) == .unasked && cache.count == 2)
        #expect(cache.find("a", for: first, of: nil, now: 0) == .known([four], isComplete: true))
        // what is out of date goes first
        #expect(cache.find("d", for: first, of: nil, now: 20_000) == .unasked && cache.count == 2)
        #expect(cache.find("c", for: second, of: nil, now: 20_000) == .waiting)
    }
}
