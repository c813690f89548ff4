import EventLoop
import Testing

@testable import Names

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
        let told = cache.take(answer([four]), now: 6000).askers
        #expect(told.count == 2 && told[0] === first && told[1] === second)
        #expect(cache.find("a", for: first, of: nil, now: 6000) == .known([four], isComplete: true))
        #expect(cache.take(answer([six]), now: 6000).askers.isEmpty)
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
        #expect(cache.take(answer([four], life: 10, isComplete: false), now: 0).askers.count == 1)
        #expect(cache.find("a", for: second, of: nil, now: 20_000) == .known([four], isComplete: false))
        #expect(cache.take(answer([six], life: 600), now: 20_000).askers.count == 2)
        #expect(cache.find("a", for: first, of: nil, now: 20_000) == .unasked)
    }

    @Test func theLastWordMayAddNothing() {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        _ = cache.take(answer([four], life: 10, isComplete: false), now: 0)
        #expect(cache.take(answer([], life: .max), now: 100).askers.count == 1)
        #expect(cache.find("a", for: first, of: nil, now: 9999) == .known([four], isComplete: true))
        #expect(cache.find("a", for: first, of: nil, now: 10_000) == .unasked)
    }

    @Test func failuresAreKeptForSeconds() {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        #expect(cache.take(failure(.unknown("no", rcode: nil)), now: 100).askers.count == 1)
        #expect(cache.find("a", for: first, of: nil, now: 3099) == .failed(.unknown("no", rcode: nil)))
        #expect(cache.find("a", for: first, of: nil, now: 3100) == .unasked)
    }

    @Test func eachClientHasItsShareOfQuestions() {
        var cache = NameCache<Asker, String>(share: 2, queue: 2)
        #expect(cache.find("a", for: first, of: "one", now: 0) == .unasked)
        #expect(cache.find("b", for: first, of: "one", now: 0) == .unasked)
        #expect(cache.find("c", for: first, of: "one", now: 0) == .waiting)
        #expect(cache.find("d", for: first, of: "one", now: 0) == .waiting)
        #expect(cache.find("e", for: first, of: "one", now: 0) == .failed(.tooMany))
        // what is under way costs nothing, and others have shares of their own
        #expect(cache.find("a", for: second, of: "one", now: 0) == .waiting)
        #expect(cache.find("e", for: second, of: "other", now: 0) == .unasked)
        #expect(cache.find("e", for: first, of: "one", now: 0) == .waiting)
        #expect(cache.find("f", for: first, of: nil, now: 0) == .unasked)
        // a share comes back with the last answer, and the next in the queue has it
        #expect(cache.take(answer([four], isComplete: false), now: 0).next == nil)
        #expect(cache.take(answer([six]), now: 0).next == "c")
        #expect(cache.find("g", for: first, of: "one", now: 0) == .waiting)
        #expect(cache.find("h", for: first, of: "one", now: 0) == .failed(.tooMany))
        // what is known needs none, whoever has gone
        #expect(cache.find("a", for: first, of: "one", now: 0) == .known([four, six], isComplete: true))
        cache.forget("b", first)
        #expect(cache.find("h", for: first, of: "one", now: 0) == .failed(.tooMany))
        #expect(cache.take(answer([four], of: "b"), now: 0).next == "d")
        // an answer to a question that was not put is none
        #expect(cache.take(answer([four], of: "g"), now: 0).askers.isEmpty)
        #expect(cache.take(answer([four], of: "c"), now: 0).next == "g")
        #expect(cache.take(answer([four], of: "d"), now: 0).next == nil)
        #expect(cache.take(answer([four], of: "g"), now: 0).askers.count == 1)
        for name in ["i", "j"] { #expect(cache.find(name, for: first, of: "one", now: 0) == .unasked) }
        #expect(cache.find("k", for: first, of: "one", now: 0) == .waiting)
    }

    @Test func whoHasRoomDoesNotWaitForAnothersTurn() {
        var cache = NameCache<Asker, String>(share: 1, queue: 2)
        for name in ["a", "b", "c"] { _ = cache.find(name, for: first, of: "one", now: 0) }
        #expect(cache.find("b", for: second, of: "other", now: 0) == .unasked)
        let told = cache.take(answer([four], of: "b"), now: 0)
        #expect(told.next == nil && told.askers.count == 2)
        #expect(cache.take(answer([four], of: "a"), now: 0).next == "c")
    }

    @Test func whoHasGoneLeavesTheQueue() {
        var cache = NameCache<Asker, String>(share: 1, queue: 1)
        for name in ["a", "b"] { _ = cache.find(name, for: first, of: "one", now: 0) }
        #expect(cache.find("b", for: second, of: "one", now: 0) == .waiting)
        cache.forget("b", first)
        #expect(cache.find("c", for: first, of: "one", now: 0) == .failed(.tooMany))
        cache.forget("b", second)
        #expect(cache.count == 1 && cache.find("c", for: first, of: "one", now: 0) == .waiting)
        #expect(cache.take(answer([four], of: "a"), now: 0).next == "c")
    }

    @Test func oneClientsNamesDoNotPushOutThoseOfOthers() {
        var cache = NameCache<Asker, String>(capacity: 40)
        for number in 0..<5 {
            _ = cache.find("quiet\(number)", for: first, of: "quiet", now: 0)
            _ = cache.take(answer([four], life: 5, of: "quiet\(number)"), now: 0)
        }
        for number in 0..<1000 {
            #expect(cache.find("\(number)", for: first, of: "loud", now: 0) == .unasked)
            _ = cache.take(answer([four], life: 3600, of: "\(number)"), now: 0)
            #expect(cache.count <= 40)
        }
        for number in 0..<5 {
            #expect(cache.find("quiet\(number)", for: first, of: "loud", now: 0) == .known([four], isComplete: true))
        }
    }

    @Test func answersAreForgottenAndQuestionsAreNot() {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        _ = cache.take(answer([four]), now: 0)
        _ = cache.find("b", for: first, of: nil, now: 0)
        cache.forgetAnswers()
        #expect(cache.find("a", for: first, of: nil, now: 0) == .unasked)
        #expect(cache.take(answer([six], of: "b"), now: 0).askers.count == 1)
    }

    @Test func whoHasGoneIsNotTold() {
        var cache = NameCache<Asker, String>()
        _ = cache.find("a", for: first, of: nil, now: 0)
        _ = cache.find("a", for: second, of: nil, now: 0)
        cache.forget("a", first)
        cache.forget("b", first)
        let told = cache.take(answer([four]), now: 0).askers
        #expect(told.count == 1 && told.first === second)
        // the answer serves others all the same
        _ = cache.find("b", for: first, of: nil, now: 0)
        cache.forget("b", first)
        #expect(cache.take(answer([six], of: "b"), now: 0).askers.isEmpty)
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
