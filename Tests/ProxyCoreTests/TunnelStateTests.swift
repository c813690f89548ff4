import Testing

@testable import ProxyCore

/// The table of a tunnel's states.
@Suite struct TunnelStateTests {
    private typealias State = Tunnel.State

    @Test func everyStateIsReachedAndLeadsToTheEnd() {
        var reached: Set<State> = [.none]
        var found = reached
        while !found.isEmpty {
            found = found.reduce(into: Set<State>()) { $0.formUnion($1.next) }.subtracting(reached)
            reached.formUnion(found)
        }
        #expect(reached == Set(State.allCases))
        for state in State.allCases where state != .none {
            #expect(state.next.contains(.none), "\(state) has no end")
        }
    }

    /// What passes through a tunnel before its CONNECT is answered would be read as the answer.
    @Test func nothingPassesBeforeConnectIsAnswered() {
        for state in [State.joining, .securing] {
            #expect(State.allCases.filter { $0.next.contains(state) } == [.peeking])
        }
        #expect(State.allCases.filter { $0.next.contains(.peeking) } == [.connecting])
    }

    /// What was decided about a tunnel stays.
    @Test func aDecisionIsFinal() {
        for state in [State.joining, .securing] { #expect(state.next == [.none]) }
    }
}
