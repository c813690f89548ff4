public import Journal

/// Judges stored flows by expectations, flow by flow. It keeps counts, a few times, and at most a few flows of each.
public struct ExpectationLedger: Sendable {
    /// In their order. The tallies of both kinds stand apart, to be changed in place.
    public private(set) var expectations: [Expectation] = []
    private var messages: [MessageTally] = []
    private var rules: [RuleTally] = []
    /// Nil if no expectation is for each journey.
    private var journeys: JourneyTracker?
    /// Whether any condition names calls of Usher's own.
    public private(set) var asksForCalls = false
    /// The number of flows judged.
    public private(set) var seen = 0

    public init(_ expectations: [Expectation] = []) { add(expectations) }

    /// Adds expectations on the flows from now on.
    public mutating func add(_ expectations: [Expectation]) {
        self.expectations += expectations
        for expectation in expectations {
            switch expectation.test {
            case .messages(let test):
                messages.append(MessageTally(expectation, test))
                if test.scope == .journey, journeys == nil { journeys = JourneyTracker() }
            case .rule(let rule): rules.append(RuleTally(expectation, rule))
            }
        }
        asksForCalls = messages.contains(where: \.asksForCalls)
    }

    public var isEmpty: Bool { expectations.isEmpty }

    /// - Parameter flow: the next one that ended.
    public mutating func observe(_ flow: PackedFlow) {
        // an attempt is part of a flow that is judged whole
        let isCall = flow[.parent] != 0
        guard !isCall || asksForCalls && !flow.flags.contains(.attempt) else { return }
        if !isCall { seen += 1 }
        let journey = journeys?.journey(of: flow)
        var exchange = StoredExchange(flow)
        for index in messages.indices where !isCall || messages[index].asksForCalls {
            messages[index].observe(&exchange, journey)
        }
        guard !isCall else { return }
        for index in rules.indices { rules[index].observe(exchange) }
    }

    public func report() -> ExpectationReport {
        var (messages, rules) = (messages[...], rules[...])
        return ExpectationReport(
            expectations.compactMap { expectation in
                switch expectation.test {
                case .messages: messages.popFirst()?.entry
                case .rule: rules.popFirst()?.entry
                }
            }, seen: seen)
    }
}
