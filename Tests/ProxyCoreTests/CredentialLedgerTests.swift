import Authorization
import ProxyCore
import Testing

@Suite("Credentials that are fetched once for several exchanges")
struct CredentialLedgerTests {
    /// A credential with an end of its own, of which others are fetched while it serves.
    private struct Pass: Credential {
        struct Key: CredentialKey {
            var name = "a"
            var owner: String { "one" }
            var hold: Int { 30_000 }
            var coolDown: Int { 5_000 }
        }

        var text: String
        var dueAt = 100_000
        var until = 200_000
        var isKept = true

        static var most: Int { 4 }
        static var mostUnderWay: Int { 4 }
        static var notAgain: String { "refused again" }
        static var youth: Int { 10_000 }
        static var endsByRefusal: Bool { false }
        func lasts(_ key: Key, at now: LoginTime) -> Bool { now.milliseconds < until }
        func isDue(_ key: Key, at now: LoginTime) -> Bool { dueAt <= now.milliseconds }
    }

    private final class Ledger {
        private var ledger = CredentialLedger<Pass>()
        var count: Int { ledger.count }

        private func time(_ now: Int) -> LoginTime { LoginTime(milliseconds: now, seconds: now / 1_000) }

        func ask(_ name: String = "a", refused: Int? = nil, waited: Int? = nil, at now: Int = 0) -> String {
            let refusal = refused.map { CredentialLedger<Pass>.Refusal(generation: $0, path: "") }
            switch ledger.ask(Pass.Key(name: name), after: refusal, waited: waited, time(now)) {
            case .use(let kept): return kept.value.text
            case .fetch(let number): return "fetch \(number)"
            case .wait(let number): return "wait \(number)"
            case .failed(let fault): return "failed: \(fault.reason)"
            case .full: return "full"
            }
        }
        func won(_ pass: Pass, _ fetch: Int, _ name: String = "a", at now: Int = 0) {
            ledger.won(pass, Pass.Key(name: name), fetch: fetch, time(now))
        }
        func failed(_ fetch: Int, pause: Int? = nil, at now: Int) {
            ledger.failed(
                LoginFault(reason: "no", isRefusal: true), Pass.Key(), fetch: fetch, pause: pause, time(now))
        }
        func change<Result>(_ body: (inout CredentialLedger<Pass>) -> Result) -> Result { body(&ledger) }
        func first(_ text: String, at now: Int) -> String? { ledger.first(time(now)) { $0.text == text }?.text }
    }

    @Test func othersUseWhatThereIsWhileItIsRenewed() {
        let ledger = Ledger()
        #expect(ledger.ask() == "fetch 1" && ledger.ask() == "wait 1")
        ledger.won(Pass(text: "A"), 1)
        #expect(ledger.ask(at: 99_999) == "A" && ledger.ask(at: 100_000) == "fetch 2" && ledger.ask(at: 100_000) == "A")
        // one that comes to nothing leaves it until its end
        ledger.failed(2, pause: 400_000, at: 150_000)
        #expect(ledger.ask(at: 199_999) == "A" && ledger.ask(at: 200_000) == "failed: no")
        #expect(ledger.ask(at: 550_000) == "fetch 3")
    }

    /// What a resource refuses is fetched anew, but not what came a moment ago; others go on with it.
    @Test func whatIsRefusedIsFetchedAnew() {
        let ledger = Ledger()
        _ = ledger.ask()
        ledger.won(Pass(text: "A"), 1)
        #expect(ledger.ask(refused: 1, at: 9_999) == "A" && ledger.ask(refused: 1, at: 10_000) == "fetch 2")
        #expect(ledger.ask(refused: 1, at: 10_000) == "wait 2" && ledger.ask(refused: 7, at: 10_000) == "A")
        #expect(ledger.ask(at: 10_000) == "A")
        ledger.won(Pass(text: "B"), 2, at: 10_001)
        #expect(ledger.ask(refused: 1, waited: 2, at: 10_001) == "B" && ledger.ask(refused: 2, at: 20_000) == "B")
        // after a failure it serves, refused or not
        #expect(ledger.ask(refused: 2, at: 20_001) == "fetch 3")
        ledger.failed(3, pause: 50, at: 20_001)
        #expect(ledger.ask(refused: 2, at: 20_050) == "B" && ledger.ask(refused: 2, at: 20_051) == "fetch 4")
    }

    /// Whoever waits for another in place of a refused one goes on where nobody fetches any more, and fails with the fetch.
    @Test func whoWaitsForAnotherHasItNotReplacedByTheRefusedOne() {
        let ledger = Ledger()
        _ = ledger.ask()
        ledger.won(Pass(text: "A"), 1)
        #expect(ledger.ask(refused: 1, at: 10_000) == "fetch 2" && ledger.ask(refused: 1, at: 10_000) == "wait 2")
        ledger.change { $0.abandoned(Pass.Key(), fetch: 2) }
        #expect(ledger.ask(refused: 1, waited: 2, at: 10_000) == "fetch 3")
        ledger.failed(3, pause: 50, at: 10_000)
        #expect(ledger.ask(refused: 1, waited: 3, at: 10_000) == "failed: no" && ledger.ask(at: 10_000) == "A")
    }

    @Test func anotherInItsPlaceIsNotRefusedWithIt() {
        let ledger = Ledger()
        _ = ledger.ask()
        ledger.won(Pass(text: "A"), 1)
        let kept = ledger.change { $0.replace(Pass.Key(), by: Pass(text: "B")) }
        #expect(kept?.value.text == "B" && ledger.ask(refused: 1, at: 60_000) == "B")
        #expect(ledger.ask(refused: kept?.generation, at: 60_000) == "fetch 3")
        let none = ledger.change { $0.replace(Pass.Key(name: "b"), by: Pass(text: "C")) }
        #expect(none == nil)
    }

    /// Something ends while it is fetched: those who wait have it, and nobody who comes later.
    @Test func whatEndedMeanwhileIsKeptForNobody() {
        let ledger = Ledger()
        #expect(ledger.ask() == "fetch 1" && ledger.ask() == "wait 1")
        ledger.change { $0.void { _ in false } }
        ledger.won(Pass(text: "A"), 1)
        #expect(ledger.first("A", at: 0) == nil && ledger.ask() == "fetch 2" && ledger.ask(waited: 1) == "A")
        // what is fetched behind that end is good
        ledger.won(Pass(text: "B"), 2)
        #expect(ledger.ask() == "B" && ledger.first("B", at: 0) == "B" && ledger.first("B", at: 200_000) == nil)
        ledger.change { $0.void { $0.text == "B" } }
        #expect(ledger.ask() == "fetch 3")
        ledger.won(Pass(text: "C", isKept: false), 3)
        #expect(ledger.ask(waited: 3) == "C" && ledger.ask() == "fetch 4")
    }

    @Test func itIsBounded() {
        let ledger = Ledger()
        for (number, name) in ["a", "b", "c", "d"].enumerated() { #expect(ledger.ask(name) == "fetch \(number + 1)") }
        #expect(ledger.ask("e") == "full" && ledger.ask("a") == "wait 1")
        ledger.won(Pass(text: "A"), 1)
        #expect(ledger.ask("e") == "fetch 5" && ledger.count == 4)
    }

    @Test func whatIsOverIsNotKeptForEver() {
        let ledger = Ledger()
        for (number, name) in ["a", "b", "c"].enumerated() {
            _ = ledger.ask(name)
            ledger.won(Pass(text: name, until: 5), number + 1, name)
        }
        #expect(ledger.ask("d", at: 9_999) == "fetch 4" && ledger.count == 4)
        let fetched = ["d", "a"].map { name in ledger.change { $0.fetched { $0.name == name }?.name } }
        #expect(fetched == ["d", nil])
        #expect(ledger.ask("d", at: 11_000) == "wait 4" && ledger.count == 1)
    }
}
