/// A rule's position and its minimal requirements.
struct RuleCandidate: Sendable {
    let index: Int
    let gate: RequestGate
    let demand: ActionDemand

    init(_ index: Int, _ condition: Condition) {
        self.index = index
        gate = RequestGate(condition)
        demand = ActionDemand(condition)
    }
}

/// Candidates in order. Their `demand` bits are stored side by side for a fast search.
struct RuleCandidates: Sendable, RandomAccessCollection {
    private let all: [RuleCandidate]
    private let demands: [UInt64]
    /// Whether any gate looks at the path.
    let asksPaths: Bool

    init(_ all: [RuleCandidate]) {
        self.all = all
        demands = all.map(\.gate.demand)
        asksPaths = all.contains(where: \.gate.asksPath)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { all.count }
    subscript(index: Int) -> RuleCandidate { all[index] }

    /// The position of the first candidate at or after a rule.
    func place(of rule: Int) -> Int {
        var (lower, upper) = (0, all.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if all[middle].index < rule { lower = middle + 1 } else { upper = middle }
        }
        return lower
    }

    /// The first candidate, from a position on, whose gate admits the request.
    func next(from start: Int, _ traits: RequestGate.Traits) -> Int? {
        var index = start
        while true {
            index = Self.skip(demands.span, index, traits.absent)
            guard index < all.count else { return nil }
            if all[index].gate.admits(traits) { return index }
            index &+= 1
        }
    }

    /// Skips candidates that require absent bits. These are most of them, so the loop is unrolled by four.
    @inline(__always)
    private static func skip(_ demands: Span<UInt64>, _ start: Int, _ absent: UInt64) -> Int {
        precondition(start >= 0)
        var index = start
        while index &+ 4 <= demands.count {
            // the loop's condition has checked the range
            if demands[unchecked: index] & absent == 0 { return index }
            if demands[unchecked: index &+ 1] & absent == 0 { return index &+ 1 }
            if demands[unchecked: index &+ 2] & absent == 0 { return index &+ 2 }
            if demands[unchecked: index &+ 3] & absent == 0 { return index &+ 3 }
            index &+= 4
        }
        while index < demands.count, demands[index] & absent != 0 { index &+= 1 }
        return index
    }
}

/// The rules of one phase, indexed by Action.
struct RuleReach: Sendable {
    let isEmpty: Bool
    private let unrecognised: RuleCandidates
    /// For Actions that no rule names.
    private let otherwise: RuleCandidates
    private let named: [Action: RuleCandidates]

    init(_ candidates: [RuleCandidate]) {
        isEmpty = candidates.isEmpty
        unrecognised = RuleCandidates(candidates.filter { $0.demand.admits(nil) })
        otherwise = RuleCandidates(candidates.filter { if case .oneOf = $0.demand { false } else { true } })
        var named: [Action: RuleCandidates] = [:]
        for candidate in candidates {
            guard case .oneOf(let actions) = candidate.demand else { continue }
            for action in actions where named[action] == nil {
                named[action] = RuleCandidates(candidates.filter { $0.demand.admits(action) })
            }
        }
        self.named = named
    }

    func callAsFunction(_ action: Action?) -> RuleCandidates {
        guard let action else { return unrecognised }
        return named[action] ?? otherwise
    }
}

/// The rules of both response stages, in their order.
struct ResponseReach: Sendable {
    private let delivery: RuleReach
    /// The stage before the step-up.
    private let preparation: RuleReach
    /// True if the response phase runs in the reverse order of the request phase.
    private let isReversed: Bool

    init(_ rules: [CompiledRule], isReversed: Bool, _ candidate: (Int) -> RuleCandidate) {
        func reach(_ stage: ResponseStage) -> RuleReach {
            let response = rules.indices.filter { rules[$0].seesResponses(at: stage) }.map(candidate)
            return RuleReach(isReversed ? response.reversed() : response)
        }
        delivery = reach(.delivery)
        preparation = reach(.beforeStepUp)
        self.isReversed = isReversed
    }

    subscript(stage: ResponseStage) -> RuleReach { stage == .delivery ? delivery : preparation }

    /// The positions of the rules that a phase runs if it starts at `first`.
    func places(from first: Int, _ action: Action?, _ stage: ResponseStage) -> [Int] {
        self[stage](action).map(\.index).filter { isReached($0, from: first) }
    }

    /// The position to start at in order to run all rules.
    func start(_ count: Int) -> Int { isReversed ? count : 0 }

    /// The position after a rule.
    func place(behind index: Int) -> Int { isReversed ? index - 1 : index + 1 }

    /// Whether a phase that starts at `first` reaches a rule.
    func isReached(_ index: Int, from first: Int) -> Bool { isReversed ? index <= first : index >= first }
}

/// The two stages at which response edits run.
public enum ResponseStage: Equatable, Sendable {
    /// Before the step-up looks for an advice.
    case beforeStepUp
    /// Before the response goes to the client.
    case delivery

    public var phase: PhaseJudgement.Phase { self == .delivery ? .response : .beforeStepUp }
}
