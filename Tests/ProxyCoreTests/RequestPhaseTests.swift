import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// The phase of a request, from the outcome of its interceptors to its way out.
@Suite struct RequestPhaseTests {
    private typealias State = RequestPhase.State

    private func judged(_ outcome: Outcome, _ phase: inout RequestPhase) -> RequestPhase.Step {
        var info = ExchangeInfo(ExchangeID(1), Engine(Settings()))
        var attempt = Attempt()
        let context = ClientContext(
            stores: SharedStores(), source: ClientSource(address: nil), name: "client", share: nil)
        var out = CommandBuffer()
        out.now = 100
        return phase.judged(RequestHead(), outcome, &info, &attempt, context, &out)
    }

    // MARK: the table

    @Test func everyStateIsReachedAndLeadsToTheNextAttempt() {
        var reached: Set<State> = [.open]
        var found = reached
        while !found.isEmpty {
            found = found.reduce(into: Set<State>()) { $0.formUnion($1.next) }.subtracting(reached)
            reached.formUnion(found)
        }
        #expect(reached == Set(State.allCases))
        for state in State.allCases { #expect(state.next.contains(.open), "\(state) has no end") }
    }

    /// What interceptors put in the request's place stays there.
    @Test func aDecisionIsFinal() {
        for state in [State.passed, .replaced] { #expect(state.next == [.open]) }
        #expect(!State.delay.next.contains(.replaced), "what is delayed has been decided")
    }

    /// Code decides before the limits, and a delay begins behind them.
    @Test func theOrderOfCodeLimitsAndDelaysIsFixed() {
        #expect(!State.limit.next.contains(.code))
        #expect(!State.delay.next.contains(.code) && !State.delay.next.contains(.limit))
    }

    // MARK: steps

    @Test func aRequestThatNobodyHoldsGoesOut() {
        var phase = RequestPhase()
        guard case .pass = judged(Outcome(), &phase) else {
            Issue.record("it does not go out")
            return
        }
        #expect(phase.state == .passed)
    }

    @Test func anAbortedRequestDoesNotGoOut() {
        var phase = RequestPhase()
        var outcome = Outcome()
        outcome.verdict = .abort(interceptor: "a", reason: "b")
        guard case .replace(.abort("a", "b"), after: 0) = judged(outcome, &phase) else {
            Issue.record("it is not aborted")
            return
        }
        #expect(phase.state == .replaced)
    }

    @Test func aResponseInItsPlaceEndsThePhase() {
        var phase = RequestPhase()
        var outcome = Outcome()
        outcome.verdict = .respond(DirectResponse(status: 204, headers: [], body: []), interceptor: "a")
        guard case .replace(.respond(let local, "a"), after: 0) = judged(outcome, &phase) else {
            Issue.record("no response takes its place")
            return
        }
        #expect(local.status == 204 && phase.state == .replaced)
        phase.begin()
        #expect(phase.state == .open)
    }

    @Test func aFilterEndsAWaitAndNothingElse() {
        var phase = RequestPhase()
        phase.giveUpWait()
        #expect(phase.state == .open)
        _ = judged(Outcome(), &phase)
        phase.giveUpWait()
        #expect(phase.state == .passed)
    }
}
