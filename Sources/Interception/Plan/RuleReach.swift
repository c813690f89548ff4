/// A rule's place, and what it asks for at least.
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

/// Some of them, in order, and beside each other the first thing that is asked of all.
struct RuleCandidates: Sendable, RandomAccessCollection {
    private let all: [RuleCandidate]
    private let demands: [UInt64]
    /// Some gate looks at the path.
    let asksPaths: Bool

    init(_ all: [RuleCandidate]) {
        self.all = all
        demands = all.map(\.gate.demand)
        asksPaths = all.contains(where: \.gate.asksPath)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { all.count }
    subscript(index: Int) -> RuleCandidate { all[index] }

    /// Where the first stands whose rule does not come before that one.
    func place(of rule: Int) -> Int {
        var (lower, upper) = (0, all.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if all[middle].index < rule { lower = middle + 1 } else { upper = middle }
        }
        return lower
    }

    /// The first, from a place on, whose gate a request passes.
    func next(from start: Int, _ traits: RequestGate.Traits) -> Int? {
        var index = start
        while true {
            index = Self.skip(demands.span, index, traits.absent)
            guard index < all.count else { return nil }
            if all[index].gate.admits(traits) { return index }
            index &+= 1
        }
    }

    /// Passes over those that demand something that is absent: nearly all, so four at a time.
    @inline(__always)
    private static func skip(_ demands: Span<UInt64>, _ start: Int, _ absent: UInt64) -> Int {
        precondition(start >= 0)
        var index = start
        while index &+ 4 <= demands.count {
            // the range was just looked at
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

/// The rules of one phase that are worth a look, by Action.
struct RuleReach: Sendable {
    let isEmpty: Bool
    private let unrecognised: RuleCandidates
    /// For an Action that no rule names.
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

/// The rules that see a response, at either stage, in their order.
struct ResponseReach: Sendable {
    private let delivery: RuleReach
    /// Before a step-up looks at it.
    private let preparation: RuleReach
    /// Whoever speaks of what came of a request is heard in the order of the request phase turned round.
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

    /// The places of the rules that the phase runs, where it begins with one.
    func places(from first: Int, _ action: Action?, _ stage: ResponseStage) -> [Int] {
        self[stage](action).map(\.index).filter { isReached($0, from: first) }
    }

    /// The place from which on all are seen.
    func start(_ count: Int) -> Int { isReversed ? count : 0 }

    /// Where the phase goes on behind a rule.
    func place(behind index: Int) -> Int { isReversed ? index - 1 : index + 1 }

    /// Whether the phase comes to a rule, where it begins with another.
    func isReached(_ index: Int, from first: Int) -> Bool { isReversed ? index <= first : index >= first }
}

/// When edits of a response are made.
public enum ResponseStage: Equatable, Sendable {
    /// Before a step-up looks for an advice there.
    case beforeStepUp
    /// When it is about to go to the client.
    case delivery

    public var phase: PhaseJudgement.Phase { self == .delivery ? .response : .beforeStepUp }
}
