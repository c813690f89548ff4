import Authorization
import ProxyCore
import Testing

@Suite("Step-ups that wait for a person")
struct TransactionLedgerTests {
    private var chance = SystemRandomNumberGenerator()

    private func step() -> OpenStep {
        var code = OpenCallback(index: 2, type: "PasswordCallback", prompt: "Code", form: .text)
        code.isSecret = true
        return OpenStep(.callbacks([OpenCallback(index: 0, type: "NameCallback", prompt: "User", form: .text), code]))
    }

    private func transaction(of client: String = "a", until: Int = 100) -> OpenTransaction {
        OpenTransaction(
            client: .init(address: client, network: client), method: "GET", resource: "http://shop.test/", server: "am",
            realm: "/", tree: nil, step: step(), since: 0, until: until)
    }

    private mutating func park(
        _ ledger: inout TransactionLedger<String>, of client: String = "a"
    ) throws -> (id: TransactionID, displaced: String?) {
        let parked = ledger.park(transaction(of: client), client, using: &chance)
        guard case .parked(let id, _) = parked.parking else { throw Full() }
        return (id, parked.turns.first?.1)
    }

    private struct Full: Error {}

    @Test mutating func answersMayComeOneByOne() throws {
        var ledger = TransactionLedger<String>()
        let id = try park(&ledger).id
        let first = try ledger.answer(id, PersonAnswers([0: ["jane"]]), now: 1)
        #expect(first.missing.map(\.index) == [2] && first.turns.isEmpty && ledger.look(id) == nil)
        #expect(ledger.list(now: 1).first?.missing.map(\.index) == [2])
        #expect(throws: TransactionRefusal.twice(place: 0)) { try ledger.answer(id, PersonAnswers([0: ["x"]]), now: 1) }
        #expect(
            throws: TransactionRefusal.unfit("nothing is asked at place 1; it asks for NameCallback, PasswordCallback")
        ) {
            try ledger.answer(id, PersonAnswers([1: ["x"]]), now: 1)
        }
        let last = try ledger.answer(id, PersonAnswers([2: ["123"]]), now: 1)
        #expect(last.missing.isEmpty && last.turns.map(\.1) == ["a"])
        guard case .answered(let given) = ledger.look(id) else { throw Full() }
        #expect(given.callbacks == [0: ["jane"], 2: ["123"]])
        #expect(ledger.list(now: 1).isEmpty && ledger.count == 0)
    }

    @Test mutating func lateDoubleAndUnknownAreRefused() throws {
        var ledger = TransactionLedger<String>(remembered: 2)
        let id = try park(&ledger).id
        #expect(throws: TransactionRefusal.over(.late)) { try ledger.deny(id, now: 100) }
        _ = try ledger.deny(id, now: 99)
        #expect(throws: TransactionRefusal.over(.denied)) { try ledger.deny(id, now: 99) }
        ledger.leave(id, now: 99)
        #expect(throws: TransactionRefusal.over(.denied)) { try ledger.answer(id, PersonAnswers(), now: 99) }
        for _ in 0..<2 { ledger.leave(try park(&ledger).id, now: 99) }
        #expect(throws: TransactionRefusal.unknown, "how the oldest ended is forgotten") {
            try ledger.deny(id, now: 99)
        }
    }

    @Test mutating func noClientTakesAllPlaces() throws {
        var ledger = TransactionLedger<String>(capacity: 4)
        var ids: [TransactionID] = []
        for _ in 0..<4 { ids.append(try park(&ledger).id) }
        #expect(throws: Full.self, "its own are as good as this one") { try park(&ledger) }
        #expect(try park(&ledger, of: "b").displaced == "a")
        guard case .displaced = ledger.look(ids[3]) else { throw Full() }
        #expect(throws: TransactionRefusal.over(.displaced)) { try ledger.deny(ids[3], now: 1) }
        #expect(try park(&ledger, of: "b").displaced == "a")
        #expect(throws: Full.self, "both have their half") { try park(&ledger, of: "b") }
        #expect(try park(&ledger, of: "c").displaced != nil)
        #expect(ledger.count == 4)
        for id in ids { ledger.leave(id, now: 1) }
        #expect(ledger.count <= 3)
    }

    @Test func anIdIsReadAsItIsTyped() {
        #expect(TransactionID("ABCDEF")?.description == "abcdef")
        for odd in ["", "abcde", "abcdefg", "abcde1", "abcd/e", "ab de2"] { #expect(TransactionID(odd) == nil) }
    }
}
