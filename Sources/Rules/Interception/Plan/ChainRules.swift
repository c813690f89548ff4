/// Settings of the interceptor chain as a whole.
public struct ChainRules: Equatable, Sendable {
    /// The rules that the chain follows.
    public enum Compatibility: String, CaseIterable, Sendable {
        /// Usher's own rules.
        case none
        /// The rules of CDTDatastore's HTTP interceptors.
        case cdt
    }

    /// The order of interceptors in the response and error phases.
    public enum ResponseOrder: String, CaseIterable, Sendable {
        /// The same order as in the request phase.
        case file
        /// Reversed: the first interceptor that saw the request is the last to see the response.
        case reversed
    }

    public var compatibility = Compatibility.none
    public var responseOrder = ResponseOrder.file

    public init() {}

    /// True if a retry starts from the previous attempt's request instead of the client's.
    public var editsPersist: Bool { compatibility == .cdt }
    /// True if the last interceptor decides whether the request is sent again.
    var lastDecides: Bool { compatibility == .cdt }
    /// True if all interceptors share one state.
    var sharesState: Bool { compatibility == .cdt }

    /// The defaults of a `retry` edit.
    var retry: RetryPolicy {
        var policy = RetryPolicy()
        if compatibility == .cdt {
            // the exchange's own limit is lower and decides; any method is repeated
            policy.times = 100
            policy.repeatsAny = true
        }
        return policy
    }

    /// The edits of a rule in the error phase.
    func errorEdits(of rule: Rule) -> [any ErrorEdit] {
        // CDT runs the response phase without a response, so edits of the response are skipped
        guard compatibility == .cdt, rule.error.isEmpty else { return rule.error }
        return rule.response.compactMap { $0 as? any ErrorEdit }
    }
}
