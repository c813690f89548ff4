/// Whether an interceptor applied in a phase, and the term that decided.
public struct RuleVerdict: Equatable, Sendable {
    public var name: String
    public var matched: Bool
    public var because: String
    /// The smallest set of terms that would have to change for the rule to apply; empty if something else decided.
    public var misses: [String]
    /// The number of terms that held.
    public var held: Int
    /// True if the rule has edits in this phase. If false, the verdict is preliminary.
    public var takesPart: Bool

    public init(
        name: String, matched: Bool, because: String, misses: [String] = [], held: Int = 0, takesPart: Bool = true
    ) {
        self.name = name
        self.matched = matched
        self.because = because
        self.misses = misses
        self.held = held
        self.takesPart = takesPart
    }
}

/// The verdicts of one phase for every interceptor.
public struct PhaseJudgement: Equatable, Sendable {
    public enum Phase: String, Sendable {
        case request
        /// Response edits before the step-up looks for an advice.
        case beforeStepUp = "before_step_up"
        case response, error
    }

    public var phase: Phase
    /// In file order.
    public var verdicts: [RuleVerdict]

    public init(_ phase: Phase, _ verdicts: [RuleVerdict]) {
        self.phase = phase
        self.verdicts = verdicts
    }
}

extension PhaseJudgement {
    func redacted(_ shown: (String) -> String) -> PhaseJudgement {
        var judgement = self
        for index in verdicts.indices {
            judgement.verdicts[index].because = shown(verdicts[index].because)
            judgement.verdicts[index].misses = verdicts[index].misses.map(shown)
        }
        return judgement
    }
}
