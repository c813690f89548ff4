import Interception

/// A decision store for one run without a network.
final class DryDecisions: DecisionStore {
    let isDry: Bool
    private var decisions = PolicyDecisions()
    private var line = QuestionLine<Void>()

    /// - Parameter isDry: false if the run supplies responses to calls.
    init(isDry: Bool) { self.isDry = isDry }

    func digest(_ bytes: [UInt8]) -> UInt128? { nil }
    func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result { body(&decisions) }
    func begin(_ client: Int, most: Int) -> Bool { line.begin(client, most: most) }
    func finish(_ client: Int) { _ = line.finish(client) }
    func enter(_ client: Int, most: Int) -> WaitingTicket? { nil }
    func leave(_ ticket: WaitingTicket) {}
}
