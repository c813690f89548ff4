public import Expectations
import Journal

/// Judges flows that are stored elsewhere.
public struct FlowJudgement {
    private let expectations: [Expectation]

    public init(_ expectations: [Expectation]) { self.expectations = expectations }

    public func report(_ archive: HARFlows) -> ExpectationReport {
        var ledger = ExpectationLedger(expectations)
        for flow in archive.flows { ledger.observe(flow) }
        return ledger.report()
    }

    /// The filter that the expectations need: Usher's own calls only if one names them.
    public static func terms(_ expectations: [Expectation]) -> [String] {
        ExpectationLedger(expectations).asksForCalls ? ["calls=yes"] : []
    }

    /// Judges the daemon's flows.
    /// - Parameter wait: waits for a flow after this sequence number, while something is missing; false if none came.
    public func report(_ pages: FlowPages, _ wait: (Int) throws -> Bool = { _ in false }) throws -> ExpectationReport {
        while true {
            let last = try pages.last()
            var ledger = ExpectationLedger(expectations)
            try pages.pages { entries in for flow in HARFlows(entries).flows { ledger.observe(flow) } }
            let report = ledger.report()
            guard report.isPending, try wait(last) else { return report }
        }
    }
}
