import Control
import EventLoop
import Expectations
import Journal

/// What the flows of each test session came to, by its expectations. The journal feeds it; questions come from any thread.
final class SessionLedgers: Sendable {
    private struct Question {
        let session: String
        /// Monotonic milliseconds.
        let until: Int
        let promise: ControlPromise
    }

    private struct State {
        var ledgers: [String: ExpectationLedger] = [:]
        /// They wait for what is missing.
        var questions: [Question] = []

        mutating func take(where isDue: (Question) -> Bool) -> [(Question, ExpectationReport)] {
            defer { questions.removeAll(where: isDue) }
            return questions.filter(isDue).map { ($0, report($0.session)) }
        }

        func report(_ id: String) -> ExpectationReport { (ledgers[id] ?? ExpectationLedger()).report() }
    }

    private let state = Locked(State())

    // MARK: sessions

    func open(_ id: String, _ expectations: [Expectation]) {
        state.withLock { $0.ledgers[id] = ExpectationLedger(expectations) }
    }

    /// Adds expectations on the flows from now on.
    func add(_ expectations: [Expectation], to id: String) { state.withLock { $0.ledgers[id]?.add(expectations) } }

    func expectations(of id: String) -> [Expectation] { state.withLock { $0.ledgers[id]?.expectations ?? [] } }

    func close(_ id: String) {
        answer(
            state.withLock { state in
                defer { state.ledgers[id] = nil }
                return state.take { $0.session == id }
            })
    }

    // MARK: flows

    func observe(_ flows: [PackedFlow]) {
        answer(
            state.withLock { state in
                guard !state.ledgers.isEmpty else { return [] }
                for flow in flows {
                    if let id = flow.text(.session) { state.ledgers[id]?.observe(flow) }
                }
                guard !state.questions.isEmpty else { return [] }
                let settled = Set(state.ledgers.filter { !$0.value.report().isPending }.map(\.key))
                return state.take { settled.contains($0.session) }
            })
    }

    // MARK: questions

    /// Answers with the report, once nothing is missing or the time is over.
    /// - Parameter until: monotonic milliseconds.
    func report(_ id: String, until: Int, _ promise: ControlPromise) {
        let report = state.withLock { state -> ExpectationReport? in
            let report = state.report(id)
            guard report.isPending, until > Loop.monotonicMilliseconds() else { return report }
            state.questions.append(Question(session: id, until: until, promise: promise))
            return nil
        }
        if let report { promise.keep(ControlAnswer(report.json)) }
    }

    /// Answers the questions whose time is over.
    func sweep() {
        let now = Loop.monotonicMilliseconds()
        answer(state.withLock { state in state.take { $0.until <= now } })
    }

    private func answer(_ questions: [(Question, ExpectationReport)]) {
        for (question, report) in questions { question.promise.keep(ControlAnswer(report.json)) }
    }
}
