import Authorization
import Interception
import Testing

/// Logins that wait for others with the same answers.
@Suite("The order of logins")
struct LoginLedgerTests {
    private let key = Lockout.Key(answers: 1, session: 10)
    private let foreign = Lockout.Key(answers: 1, session: 20)
    private let limits = Lockout.Limits(refusals: 1, hold: 1_000)

    private typealias Ledger = LoginLedger<String>

    /// One that waits.
    private func wait(
        _ ledger: inout Ledger, _ name: String, _ key: Lockout.Key? = nil, _ limits: Lockout.Limits? = nil,
        goesOn: Bool = false
    ) throws -> WaitingTicket {
        let permission = ledger.begin(
            key ?? self.key, limits ?? self.limits, goesOn: goesOn, name, now: 0)
        guard case .wait(let ticket) = permission else { throw Unexpected(permission: permission) }
        return ticket
    }

    private struct Unexpected: Error { let permission: LoginPermission }

    private func underWay(_ ledger: Ledger) -> Int {
        ledger.entries(now: 0).first { $0.scope == .answers }?.underWay ?? 0
    }

    @Test func whoeverCameFirstBeginsFirst() throws {
        var ledger = Ledger()
        #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
        let second = try wait(&ledger, "b")
        let third = try wait(&ledger, "c", foreign)
        let fourth = try wait(&ledger, "d")
        #expect(ledger.look(second) == .wait(second) && ledger.waiting == 3)
        #expect(ledger.end(key, .unjudged, limits, now: 0).map(\.1) == ["b"])
        // its turn is its own before it hears of it
        let fifth = try wait(&ledger, "e")
        #expect(ledger.look(third) == .wait(third))
        #expect(ledger.look(second) == .go(key) && ledger.waiting == 3)
        var underWay = key
        for (ticket, name, next) in [(third, "c", foreign), (fourth, "d", key), (fifth, "e", key)] {
            #expect(ledger.end(underWay, .unjudged, limits, now: 0).map(\.1) == [name])
            #expect(ledger.look(ticket) == .go(next))
            underWay = next
        }
        #expect(ledger.waiting == 0)
        // a place that is gone is nobody's
        #expect(ledger.look(fifth) == .full)
    }

    @Test func othersWaitForOthers() throws {
        var ledger = Ledger()
        let other = Lockout.Key(answers: 2, session: 30)
        #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
        #expect(ledger.begin(other, limits, "b", now: 0) == .go(other))
        _ = try wait(&ledger, "c")
        #expect(ledger.end(other, .taken, limits, now: 0).isEmpty)
        #expect(ledger.end(key, .taken, limits, now: 0).map(\.1) == ["c"])
    }

    @Test func aPauseIsToldAll() throws {
        var ledger = Ledger()
        #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
        let tickets = try ["b", "c"].map { try wait(&ledger, $0) }
        #expect(ledger.end(key, .refused, limits, now: 0).map(\.1) == ["b", "c"])
        for ticket in tickets { #expect(ledger.look(ticket) == .held(refusals: 1, milliseconds: 1_000)) }
        #expect(ledger.waiting == 0 && underWay(ledger) == 0)
        // what counts is forgotten where somebody says so
        #expect(ledger.clear(nil, now: 0).count == 2)
        #expect(ledger.begin(key, limits, "d", now: 0) == .go(key))
    }

    @Test func whatIsGrantedMakesRoom() throws {
        var ledger = Ledger()
        #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
        let second = try wait(&ledger, "b")
        #expect(ledger.grant(key, limits, now: 0).map(\.1) == ["b"])
        #expect(ledger.look(second) == .go(key) && underWay(ledger) == 2)
    }

    @Test func whatIsForgottenMakesRoom() throws {
        let limits = Lockout.Limits(refusals: 3, hold: 1_000)
        var ledger = Ledger()
        for _ in 0..<2 {
            #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
            #expect(ledger.end(key, .refused, limits, now: 0).isEmpty)
        }
        #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
        _ = try wait(&ledger, "b", key, limits)
        let (count, turns) = ledger.clear(nil, now: 0)
        #expect(count == 2 && turns.map(\.1) == ["b"])
    }

    @Test func whoeverLeavesIsPassedBy() throws {
        var ledger = Ledger()
        #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
        let second = try wait(&ledger, "b")
        let third = try wait(&ledger, "c")
        _ = try wait(&ledger, "d")
        #expect(ledger.leave(second, now: 0).isEmpty)
        #expect(ledger.end(key, .unjudged, limits, now: 0).map(\.1) == ["c"])
        // the turn had come, and passes to the next
        #expect(ledger.leave(third, now: 0).map(\.1) == ["d"])
        #expect(ledger.leave(third, now: 0).isEmpty)
        #expect(underWay(ledger) == 1 && ledger.waiting == 1)
        // nor is anything left behind where a pause was not heard of
        #expect(ledger.begin(.init(answers: 5, session: 5), limits, "e", now: 0) == .go(.init(answers: 5, session: 5)))
        let last = try wait(&ledger, "f", .init(answers: 5, session: 5))
        #expect(ledger.end(.init(answers: 5, session: 5), .refused, limits, now: 0).map(\.1) == ["f"])
        #expect(ledger.leave(last, now: 0).isEmpty && ledger.waiting == 1)
    }

    /// One that was granted and goes on is granted still where it leaves: it is counted once, and ends once.
    @Test func aTurnThatIsGivenBackIsGrantedAsBefore() throws {
        var ledger = Ledger()
        #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
        #expect(ledger.grant(key, limits, now: 0).isEmpty)
        #expect(ledger.begin(foreign, limits, "b", now: 0) == .go(foreign))
        let again = try wait(&ledger, "a", goesOn: true)
        #expect(ledger.end(foreign, .unjudged, limits, now: 0).map(\.1) == ["a"])
        let behind = try wait(&ledger, "c")
        #expect(ledger.leave(again, now: 0).map(\.1) == ["c"])
        #expect(ledger.look(behind) == .go(key) && underWay(ledger) == 2)
        #expect(ledger.end(key, .unjudged, granted: true, limits, now: 0).isEmpty && underWay(ledger) == 1)
        #expect(ledger.end(key, .unjudged, limits, now: 0).isEmpty && underWay(ledger) == 0)
    }

    /// Whose own session is busy alone holds up nobody.
    @Test func aBusySessionIsPassedBy() throws {
        let limits = Lockout.Limits(refusals: 1, hold: 1_000)
        var ledger = Ledger()
        for _ in 0..<2 {
            #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
            #expect(ledger.end(key, .taken, limits, now: 0).isEmpty)
        }
        // two with these answers at once, but one in a session that they never served
        #expect(ledger.begin(foreign, limits, "a", now: 0) == .go(foreign))
        #expect(ledger.begin(key, limits, "b", now: 0) == .go(key))
        let busy = try wait(&ledger, "c", foreign)
        let free = try wait(&ledger, "d")
        #expect(ledger.end(key, .unjudged, limits, now: 0).map(\.1) == ["d"])
        #expect(ledger.look(free) == .go(key) && ledger.look(busy) == .wait(busy))
        #expect(ledger.end(foreign, .unjudged, limits, now: 0).map(\.1) == ["c"])
    }

    @Test func moreThanThereIsRoomForDoNotWait() throws {
        var ledger = Ledger(capacity: 2)
        #expect(ledger.begin(key, limits, "a", now: 0) == .go(key))
        let second = try wait(&ledger, "b")
        _ = try wait(&ledger, "c")
        #expect(ledger.begin(key, limits, "d", now: 0) == .full)
        #expect(ledger.leave(second, now: 0).isEmpty)
        _ = try wait(&ledger, "e")
        // nor does one wait that nobody with its answers holds up
        var small = LoginLedger<String>(Lockout(capacity: 1))
        #expect(small.begin(key, limits, "a", now: 0) == .go(key))
        #expect(small.begin(.init(answers: 2, session: 2), limits, "b", now: 0) == .full)
        #expect(small.waiting == 0)
    }
}
