public import HTTPCodec

/// The rules of a configuration, compiled: one list, and for each phase the places in it that an Action can reach. A
/// phase runs its rules in order, each on what the one before it left; the first `respond` or `abort` ends it.
///
/// An object, so that whoever asks it for every request copies nothing of it.
public final class Plan: Sendable {
    /// A rule's place, and what it asks for at least.
    struct Candidate: Sendable {
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
    struct Candidates: Sendable, RandomAccessCollection {
        private let all: [Candidate]
        private let demands: [UInt64]
        /// Some gate looks at the path.
        let asksPaths: Bool

        init(_ all: [Candidate]) {
            self.all = all
            demands = all.map(\.gate.demand)
            asksPaths = all.contains(where: \.gate.asksPath)
        }

        var startIndex: Int { 0 }
        var endIndex: Int { all.count }
        subscript(index: Int) -> Candidate { all[index] }

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
    private struct Reach: Sendable {
        private let unrecognised: Candidates
        /// For an Action that no rule names.
        private let otherwise: Candidates
        private let named: [Action: Candidates]

        init(_ candidates: [Candidate]) {
            unrecognised = Candidates(candidates.filter { $0.demand.admits(nil) })
            otherwise = Candidates(candidates.filter { if case .oneOf = $0.demand { false } else { true } })
            var named: [Action: Candidates] = [:]
            for candidate in candidates {
                guard case .oneOf(let actions) = candidate.demand else { continue }
                for action in actions where named[action] == nil {
                    named[action] = Candidates(candidates.filter { $0.demand.admits(action) })
                }
            }
            self.named = named
        }

        func callAsFunction(_ action: Action?) -> Candidates {
            guard let action else { return unrecognised }
            return named[action] ?? otherwise
        }
    }

    let rules: [CompiledRule]
    /// Those of `rules` as far as heads tell, side by side: the search for a match touches nothing else.
    private let conditions: [CompiledCondition]
    private let requestPhase: Reach
    private let responsePhase: Reach
    /// Of the response, before a step-up looks at it.
    private let preparation: Reach
    let errorPhase: [Int]
    /// Whoever speaks of what came of a request is heard in the order of the request phase turned round.
    private let isReversed: Bool
    /// The rules that may ask for another attempt.
    let retrying: [Candidate]
    /// The rules that do more than edits.
    let loggingIn: [Candidate]
    /// False where no interceptor ever wants a request's body to be kept.
    public var keepsRequestBodies: Bool { readsRequestBodies || endsRequests || !retrying.isEmpty }
    /// Whether any rule answers requests or gives them up.
    private let endsRequests: Bool
    /// Where rules may do without the origin.
    private let standIns: [Condition]
    /// False when no rule ever changes a response that is about to be delivered: nothing needs to be asked.
    public let hasResponseRules: Bool
    /// The same before a step-up looks at it.
    public let preparesResponses: Bool
    /// False when no rule has anything to say where there is no answer.
    public var hasErrorRules: Bool { !errorPhase.isEmpty }

    /// Whether any rule edits bodies or asks what is in them: else nobody needs to be asked.
    public let readsRequestBodies: Bool
    public let readsResponseBodies: Bool
    /// Whether any rule has code of others look at responses.
    public let runsResponseCode: Bool
    /// Whether any rule asks what is in a request's body beside those that edit it, be it after it was sent.
    let asksRequestBodies: Bool
    /// Those that do.
    private let requestBodyReaders: Reach

    /// Each phase tells how it went for every rule.
    let explains: Bool

    /// - Parameter explains: for whoever asks what becomes of one exchange, and why.
    public init(rules: [Rule], chain: ChainRules = ChainRules(), explains: Bool = false) {
        self.explains = explains
        func asks(_ rule: Rule, _ side: MessageSide) -> Bool { rule.when.contains { $0.body == side } }
        let compiled = rules.enumerated().map { CompiledRule($1, at: $0, chain) }
        self.rules = compiled
        conditions = compiled.map { $0.condition.withoutBodies() }
        let readers = rules.indices.filter { asks(rules[$0], .request) || compiled[$0].readsSentBody }
        runsResponseCode = compiled.contains(where: \.runsResponseCode)
        requestBodyReaders = Reach(readers.map { Candidate($0, rules[$0].when) })
        asksRequestBodies = !readers.isEmpty
        readsRequestBodies =
            asksRequestBodies
            || compiled.contains { $0.requestTemplates.requestBody || $0.request.contains(where: \.readsBody) }
        readsResponseBodies = rules.indices.contains {
            asks(rules[$0], .response) || compiled[$0].responseTemplates.responseBody
                || rules[$0].response.contains(where: \.readsBody)
        }
        var request: [Candidate] = []
        var response: [Candidate] = []
        var early: [Candidate] = []
        for (index, rule) in rules.enumerated() {
            let candidate = Candidate(index, explains ? .always : rule.when)
            let needsError = self.rules[index].needsError
            if !rule.request.isEmpty, !needsError, !self.rules[index].needsResponse { request.append(candidate) }
            if !rule.response.isEmpty, !needsError {
                if rule.comesBeforeStepUp { early.append(candidate) } else { response.append(candidate) }
            }
        }
        isReversed = chain.responseOrder == .reversed
        let handlers = compiled.indices.filter { !compiled[$0].error.isEmpty && !compiled[$0].needsResponse }
        errorPhase = isReversed ? handlers.reversed() : handlers
        loggingIn = rules.indices.filter { rules[$0].login != nil }.map { Candidate($0, rules[$0].when) }
        retrying = rules.indices.filter { rules[$0].mayRetry }.map { Candidate($0, rules[$0].when) }
        requestPhase = Reach(request)
        responsePhase = Reach(isReversed ? response.reversed() : response)
        preparation = Reach(isReversed ? early.reversed() : early)
        hasResponseRules = !response.isEmpty
        standIns = rules.indices.filter {
            let edits: [any Edit] = compiled[$0].request + compiled[$0].error
            return edits.contains { type(of: $0).mayStandIn }
        }.map { rules[$0].when }
        preparesResponses = !early.isEmpty
        endsRequests = request.contains { rules[$0.index].request.contains { type(of: $0).isLast } }
    }

    /// Whether a rule may answer in the place of the origin there, or lead to another.
    /// - Parameter host: nil for any.
    public func mayStandIn(for host: String?, port: UInt16) -> Bool {
        standIns.contains { $0.mayHold(at: host, port: port) }
    }

    public var isEmpty: Bool { rules.isEmpty }
    /// Whether any rule logs in.
    public var logsIn: Bool { !loggingIn.isEmpty }

    /// The places of the rules that a phase runs, from one on.
    func requestCandidates(from index: Int, _ classification: Classification?) -> [Int] {
        requestPhase(classification?.action).map(\.index).filter { $0 >= index }
    }

    private func reach(_ stage: ResponseStage) -> Reach { stage == .delivery ? responsePhase : preparation }

    func responseCandidates(from index: Int, _ classification: Classification?, _ stage: ResponseStage) -> [Int] {
        reach(stage)(classification?.action).map(\.index).filter { isReached($0, from: index) }
    }

    /// Where the response phase goes on behind a rule.
    func responsePlace(behind index: Int) -> Int { isReversed ? index - 1 : index + 1 }

    /// Whether the response phase comes to a rule, where it begins with another.
    private func isReached(_ index: Int, from first: Int) -> Bool { isReversed ? index <= first : index >= first }

    func requestBodyReaders(_ classification: Classification?) -> [Int] {
        requestBodyReaders(classification?.action).map(\.index)
    }

    // MARK: request phase

    /// The first rule that may change this request, or nil: only then is the head worth a copy.
    public func firstRequestMatch(_ head: borrowing RequestHead, _ classification: Classification?) -> Int? {
        if explains { return rules.isEmpty ? nil : 0 }
        let candidates = requestPhase(classification?.action)
        guard !candidates.isEmpty else { return nil }
        let traits = RequestGate.Traits(head, paths: candidates.asksPaths)
        guard var place = candidates.next(from: 0, traits) else { return nil }
        let subject = Subject(request: copy head, response: nil, classification: classification)
        while true {
            let index = candidates[place].index
            if conditions[index].holds(for: subject) { return index }
            guard let next = candidates.next(from: place + 1, traits) else { return nil }
            place = next
        }
    }

    /// Runs the request phase.
    /// - Parameter index: what `firstRequestMatch` answered.
    public func applyRequest(
        from index: Int, to head: inout RequestHead, _ context: inout EditContext
    ) -> Outcome {
        var outcome = begin(.request)
        var bodies = SubjectBodies()
        runRequest(from: index, to: &head, &bodies, &context, &outcome)
        // nearly always there is nothing left to do, and no copy of what came of it is made for that
        guard !isOver(outcome) else { return consume outcome }
        return endRequest(&head, bodies, context, outcome).outcome
    }

    /// A phase that had no body has come to its end, and nothing is to be told of it.
    private func isOver(_ outcome: borrowing Outcome) -> Bool {
        if case .suspend = outcome.verdict { return false }
        return !explains
    }

    /// Runs the rules from one on, up to the first that ends the phase, or has it wait.
    func runRequest(
        from index: Int, to head: inout RequestHead, _ bodies: inout SubjectBodies, _ context: inout EditContext,
        _ outcome: inout Outcome
    ) {
        guard outcome.goesOn else { return }
        let classification = context.classification
        let candidates = requestPhase(classification?.action)
        var traits: RequestGate.Traits?
        var place = candidates.place(of: index)
        while place < candidates.endIndex {
            let rule = rules[candidates[place].index]
            let subject = Subject(request: head, response: nil, classification: classification)
            if applies(rule, to: subject, &bodies, &context, &outcome) {
                rule.edit(&head, &bodies, &context, &outcome)
                guard outcome.goesOn else { return }
                // what one rule changes may open the next one's gate
                traits = nil
            }
            guard place + 1 < candidates.endIndex else { return }
            let shown = traits ?? RequestGate.Traits(head, paths: candidates.asksPaths)
            traits = shown
            place = candidates.next(from: place + 1, shown) ?? candidates.endIndex
        }
    }

    // MARK: response phase

    /// The first rule that may change this response, or nil.
    /// - Parameter request: as it was sent.
    public func firstResponseMatch(
        _ response: borrowing ResponseHead, request: borrowing RequestHead, _ classification: Classification?,
        at stage: ResponseStage = .delivery
    ) -> Int? {
        let candidates = reach(stage)(classification?.action)
        if explains { return candidates.isEmpty ? nil : isReversed ? rules.count : 0 }
        guard !candidates.isEmpty else { return nil }
        let traits = RequestGate.Traits(request, paths: candidates.asksPaths)
        guard var place = candidates.next(from: 0, traits) else { return nil }
        let subject = Subject(request: copy request, response: copy response, classification: classification)
        while true {
            let index = candidates[place].index
            if conditions[index].holds(for: subject) { return index }
            guard let next = candidates.next(from: place + 1, traits) else { return nil }
            place = next
        }
    }

    /// Runs the response phase.
    /// - Parameters:
    ///   - index: what `firstResponseMatch` answered.
    ///   - request: as it was sent.
    public func applyResponse(
        from index: Int, to response: inout ResponseHead, request: RequestHead, _ context: inout EditContext,
        at stage: ResponseStage = .delivery
    ) -> Outcome {
        var outcome = begin(stage.phase)
        var bodies = SubjectBodies(request: sentBody(of: request, context))
        runResponse(from: index, to: &response, &bodies, request: request, &context, &outcome, at: stage)
        guard !isOver(outcome) else { return consume outcome }
        return endResponse(&response, bodies, request: request, context, outcome, cameWithBody: false).outcome
    }

    /// Runs the rules from one on, up to the first that ends the phase, or has it wait.
    func runResponse(
        from index: Int, to response: inout ResponseHead, _ bodies: inout SubjectBodies, request: RequestHead,
        _ context: inout EditContext, _ outcome: inout Outcome, at stage: ResponseStage
    ) {
        guard outcome.goesOn else { return }
        let classification = context.classification
        for candidate in reach(stage)(classification?.action) where isReached(candidate.index, from: index) {
            let rule = rules[candidate.index]
            let subject = Subject(request: request, response: response, classification: classification)
            guard applies(rule, to: subject, &bodies, &context, &outcome) else { continue }
            rule.edit(&response, &bodies, request: request, &context, &outcome)
            guard outcome.goesOn else { return }
        }
    }
}

/// When edits of a response are made.
public enum ResponseStage: Equatable, Sendable {
    /// Before a step-up looks for an advice there.
    case beforeStepUp
    /// When it is about to go to the client.
    case delivery

    public var phase: PhaseJudgement.Phase { self == .delivery ? .response : .beforeStepUp }
}
