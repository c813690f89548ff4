/// The decisions of one run without a network.
final class DryDecisions: DecisionStore, @unchecked Sendable {
    // made for one run, whose thread alone has it; what it holds is reached from nowhere else
    let isDry: Bool
    private var decisions = PolicyDecisions()

    /// - Parameter isDry: false where answers are given for calls, too.
    init(isDry: Bool) { self.isDry = isDry }

    func digest(_ bytes: [UInt8]) -> UInt128? { nil }
    func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result { body(&decisions) }
}
