/// How a chain of interceptors goes as a whole.
public struct ChainRules: Equatable, Sendable {
    /// Whose rules it keeps to.
    public enum Compatibility: String, CaseIterable, Sendable {
        /// Usher's own.
        case none
        /// Those of the HTTP interceptors of CDTDatastore.
        case cdt
    }

    /// Of the interceptors, once it is known what came of the request.
    public enum ResponseOrder: String, CaseIterable, Sendable {
        /// As for the request.
        case file
        /// The first one that saw the request is the last to see the response.
        case reversed
    }

    public var compatibility = Compatibility.none
    public var responseOrder = ResponseOrder.file

    public init() {}

    /// An attempt begins with what the one before it sent, and not with what the client did.
    public var editsPersist: Bool { compatibility == .cdt }
    /// The interceptor that speaks last decides whether the request is sent again.
    var lastDecides: Bool { compatibility == .cdt }
    /// All interceptors have one state.
    var sharesState: Bool { compatibility == .cdt }

    /// What a `retry` asks for that says no more.
    var retry: RetryPolicy {
        var policy = RetryPolicy()
        if compatibility == .cdt {
            // nobody counts but the exchange, whose own limit is lower, and no method is looked at
            policy.times = 100
            policy.repeatsAny = true
        }
        return policy
    }

    /// What an interceptor does where there is no answer.
    func errorEdits(of rule: Rule) -> [any ErrorEdit] {
        // to CDT that is a response phase without a response: what is done to one is left out
        guard compatibility == .cdt, rule.error.isEmpty else { return rule.error }
        return rule.response.compactMap { $0 as? any ErrorEdit }
    }
}
