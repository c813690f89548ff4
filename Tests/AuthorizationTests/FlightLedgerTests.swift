import Authorization
import Testing

@Suite("What is done once for all who need it")
struct FlightLedgerTests {
    private final class Ledger {
        private var ledger: FlightLedger<String, String>

        init(_ kind: FlightTicket.Kind, capacity: Int = 4096) { ledger = FlightLedger(kind, capacity: capacity) }

        var count: Int { ledger.count }
        var places: Int { ledger.places }

        func ask(
            _ key: UInt128, refused: ((String) -> Bool)? = nil, _ waiter: String, now: Int
        ) -> FlightAnswer<String> { ledger.ask(key, refused: refused, waiter, now: now) }
        func look(_ ticket: FlightTicket) -> FlightLook<String> { ledger.look(ticket) }
        func won(
            _ ticket: FlightTicket, _ value: String, dueAt: Int, until: Int, now: Int
        ) -> [(FlightTicket, String)] { ledger.won(ticket, value, dueAt: dueAt, until: until, now: now) }
        func failed(_ ticket: FlightTicket, _ reason: String, until: Int, now: Int) -> [(FlightTicket, String)] {
            ledger.failed(ticket, reason, until: until, now: now)
        }
        func leave(_ ticket: FlightTicket, now: Int) -> [(FlightTicket, String)] { ledger.leave(ticket, now: now) }
        func change(_ key: UInt128, _ change: (String) -> String?) { ledger.change(key, change) }
        func first(now: Int, _ isIt: (String) -> Bool) -> String? { ledger.first(now: now, isIt) }
        func forget(_ isOver: (UInt128, String) -> Bool) { ledger.forget(isOver) }
    }

    private func lead(_ ledger: Ledger, _ key: UInt128 = 1, _ name: String = "a", now: Int = 0) throws
        -> FlightTicket
    {
        guard case .lead(let ticket, _) = ledger.ask(key, name, now: now) else { throw Missing() }
        return ticket
    }

    private func wait(_ ledger: Ledger, _ name: String, _ key: UInt128 = 1, now: Int = 0) throws -> FlightTicket {
        guard case .wait(let ticket) = ledger.ask(key, name, now: now) else { throw Missing() }
        return ticket
    }

    private struct Missing: Error {}

    @Test func whatIsKeptIsFoundByWhatItIsUntilItsEnd() throws {
        let ledger = Ledger(.upgrade)
        _ = ledger.won(try lead(ledger), "new", dueAt: 10, until: 10, now: 0)
        #expect(ledger.first(now: 9) { $0 == "new" } == "new")
        #expect(ledger.first(now: 9) { $0 == "other" } == nil)
        #expect(ledger.first(now: 10) { $0 == "new" } == nil)
    }

    @Test func oneMakesItAndAllHaveIt() throws {
        let ledger = Ledger(.upgrade)
        let first = try lead(ledger)
        let others = try (1...4).map { try wait(ledger, "waiter \($0)") }
        #expect(others.allSatisfy { if case .wait = ledger.look($0) { true } else { false } })
        let told = ledger.won(first, "B", dueAt: 100, until: 100, now: 10)
        #expect(told.map(\.0) == others && told.map(\.1) == ["waiter 1", "waiter 2", "waiter 3", "waiter 4"])
        for ticket in others {
            #expect(ledger.look(ticket).value == "B")
            #expect(ledger.leave(ticket, now: 10).isEmpty)
        }
        #expect(ledger.places == 0)
        // for a while those who come later have it, too
        #expect(ledger.ask(1, "late", now: 99).value == "B")
        _ = try lead(ledger, now: 100)
    }

    @Test func theNextTakesOver() throws {
        let ledger = Ledger(.upgrade)
        let first = try lead(ledger)
        let second = try wait(ledger, "b")
        let third = try wait(ledger, "c")
        #expect(ledger.leave(first, now: 1).map(\.0) == [second])
        #expect(ledger.look(second).leads && !ledger.look(third).leads)
        // one that waits goes without a word
        let fourth = try wait(ledger, "d")
        #expect(ledger.leave(third, now: 1).isEmpty)
        #expect(ledger.leave(second, now: 1).map(\.1) == ["d"])
        #expect(ledger.leave(fourth, now: 1).isEmpty && ledger.count == 0)
        // whoever has given its place up has nothing to say
        #expect(ledger.won(first, "B", dueAt: 9, until: 9, now: 2).isEmpty && ledger.count == 0)
    }

    @Test func whatFailsForAllIsToldAll() throws {
        let ledger = Ledger(.login)
        let first = try lead(ledger)
        let second = try wait(ledger, "b")
        #expect(ledger.failed(first, "no", until: 50, now: 1).map(\.0) == [second])
        #expect(ledger.look(second).reason == "no")
        #expect(ledger.ask(1, "c", now: 49).reason == "no")
        _ = try lead(ledger, now: 50)
    }

    @Test func othersUseWhatThereIsWhileItIsRenewed() throws {
        let ledger = Ledger(.login)
        let first = try lead(ledger)
        _ = ledger.won(first, "A", dueAt: 100, until: 200, now: 0)
        #expect(ledger.ask(1, "b", now: 99).value == "A")
        guard case .lead(let renewing, "A") = ledger.ask(1, "c", now: 100) else { return #expect(Bool(false)) }
        #expect(ledger.ask(1, "d", now: 150).value == "A")
        // a renewal that comes to nothing leaves it until its end
        _ = ledger.failed(renewing, "no", until: 1_000, now: 150)
        #expect(ledger.ask(1, "e", now: 199).value == "A")
        #expect(ledger.ask(1, "f", now: 200).reason == "no")
    }

    /// What a resource refuses is made anew, but not what was made a moment ago.
    @Test func whatIsRefusedIsMadeAnew() throws {
        let ledger = Ledger(.login)
        _ = ledger.won(try lead(ledger), "A", dueAt: 100_000, until: 100_000, now: 0)
        #expect(ledger.ask(1, refused: { $0 == "A" }, "b", now: 9_999).value == "A")
        guard case .lead(let again, "A") = ledger.ask(1, refused: { $0 == "A" }, "c", now: 10_000) else {
            return #expect(Bool(false))
        }
        let second = ledger.ask(1, refused: { $0 == "A" }, "d", now: 10_000)
        guard case .wait(let waiting) = second else { return #expect(Bool(false)) }
        #expect(ledger.ask(1, refused: { $0 == "Z" }, "e", now: 10_000).value == "A")
        #expect(ledger.won(again, "B", dueAt: 50_000, until: 50_000, now: 10_001).map(\.0) == [waiting])
        #expect(ledger.look(waiting).value == "B")
    }

    @Test func keysHaveNothingInCommon() throws {
        let ledger = Ledger(.upgrade)
        let first = try lead(ledger, 1)
        let second = try lead(ledger, 2)
        #expect(ledger.won(first, "B", dueAt: 9, until: 9, now: 0).isEmpty)
        #expect(ledger.look(second).leads)
    }

    @Test func itIsBounded() throws {
        let ledger = Ledger(.upgrade, capacity: 4)
        for key in 1...4 {
            guard case .lead(let ticket, _) = ledger.ask(UInt128(key), "a", now: 0) else { return #expect(Bool(false)) }
            if key < 4 { _ = ledger.won(ticket, "\(key)", dueAt: 100 + key, until: 100 + key, now: 0) }
        }
        // what would end first makes room
        guard case .lead = ledger.ask(5, "b", now: 1) else { return #expect(Bool(false)) }
        #expect(ledger.count == 4 && ledger.ask(2, "c", now: 1).value == "2")
        let full = Ledger(.upgrade, capacity: 1)
        guard case .lead = full.ask(1, "a", now: 0), case .alone = full.ask(2, "b", now: 0) else {
            return #expect(Bool(false))
        }
    }

    @Test func whatIsKeptChangesAndGoes() throws {
        let ledger = Ledger(.login)
        for key in 1...3 { _ = ledger.won(try lead(ledger, UInt128(key)), "A\(key)", dueAt: 50, until: 50, now: 0) }
        ledger.change(1) { $0 + "+" }
        ledger.change(2) { _ in nil }
        ledger.forget { key, value in key == 3 && value == "A3" }
        #expect(ledger.ask(1, "b", now: 49).value == "A1+")
        _ = try lead(ledger, 2, now: 49)
        _ = try lead(ledger, 3, now: 49)
        // and what is over is not kept for ever
        let old = Ledger(.upgrade)
        for key in 1...9 { _ = old.won(try lead(old, UInt128(key)), "B", dueAt: 5, until: 5, now: 0) }
        _ = try lead(old, 10, now: 2_000)
        #expect(old.count == 1)
    }
}

extension FlightAnswer<String> {
    var value: String? { if case .use(let value) = self { value } else { nil } }
    var reason: String? { if case .failed(let reason) = self { reason } else { nil } }
}

extension FlightLook<String> {
    var value: String? { if case .use(let value) = self { value } else { nil } }
    var reason: String? { if case .failed(let reason) = self { reason } else { nil } }
    var leads: Bool { if case .lead = self { true } else { false } }
}
