/// Whether one interceptor applied in a phase, and the term that decided.
public struct RuleVerdict: Equatable, Sendable {
    public var name: String
    public var matched: Bool
    public var because: String
    /// The fewest terms of its condition that would have to be otherwise for it to apply; none where something else than its
    /// condition decided.
    public var misses: [String]
    /// How many terms of its condition held.
    public var held: Int
    /// It edits what the phase is about. Else this tells what can be said of it by then.
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

/// How a phase of the chain went for every interceptor.
public struct PhaseJudgement: Equatable, Sendable {
    public enum Phase: String, Sendable {
        case request
        /// Of the response, before a step-up looks for an advice there.
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
