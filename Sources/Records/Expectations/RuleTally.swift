internal import Journal

/// What a rule of a pack found.
struct RuleTally: Sendable {
    let expectation: Expectation
    private var rule: any FlowRule
    private var counted = 0
    private var broken = 0
    private var failures: [ExpectationReport.Failure] = []

    init(_ expectation: Expectation, _ rule: any FlowRule) {
        self.expectation = expectation
        self.rule = rule
    }

    mutating func observe(_ exchange: borrowing StoredExchange) {
        guard rule.isConcerned(with: exchange.flow) else { return }
        switch rule.judge(exchange) {
        case .other: return
        case .fits: break
        case .breaks(let because):
            broken += 1
            if failures.count < ExpectationReport.mostFailures { failures.append(.init(exchange.flow, because)) }
        }
        counted += 1
    }

    var entry: ExpectationReport.Entry {
        var entry = ExpectationReport.Entry(expectation, counted: counted, wanted: "each fits")
        entry.failures = failures
        entry.failed = broken
        if broken > 0 {
            entry.verdict = .unmet
        } else if let missing = rule.missing {
            entry.verdict = .pending
            entry.failures = [.init(missing.flow, missing.because)]
        }
        return entry
    }
}
