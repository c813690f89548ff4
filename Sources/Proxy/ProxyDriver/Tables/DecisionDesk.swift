import Interception
import ProxyCore

/// AM's decisions, and who asks for them. It holds only digests of sessions and questions.
struct DecisionLedger: Sendable {
    var decisions = PolicyDecisions()
    var line = QuestionLine<WaitingPort>()
}

typealias DecisionTable = SharedLedger<DecisionLedger>

extension Desk<DecisionLedger>: DecisionStore {
    var isDry: Bool { false }
    func digest(_ bytes: [UInt8]) -> UInt128? { table.digest(bytes) }

    func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result { table.change { body(&$0.decisions) } }
    func begin(_ client: Int, most: Int) -> Bool { table.change { $0.line.begin(client, most: most) } }
    func finish(_ client: Int) { table.tell { $0.line.finish(client) } }

    func enter(_ client: Int, most: Int) -> WaitingTicket? {
        table.change { $0.line.enter(client, most: most, port) }
    }

    func leave(_ ticket: WaitingTicket) {
        waiting.forget(ticket)
        table.tell { $0.line.leave(ticket) }
    }
}
