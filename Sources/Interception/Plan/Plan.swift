public import HTTPCodec

/// The rules of a configuration, compiled: one list, and for each phase the places in it that an Action can reach. A
/// phase (`PhaseRun`) runs its rules in order, each on what the one before it left; the first `respond` or `abort` ends it.
///
/// An object, so that whoever asks it for every request copies nothing of it.
public final class Plan: Sendable {
    let rules: [CompiledRule]
    /// Those of `rules` as far as heads tell, side by side: the search for a match touches nothing else.
    private let conditions: [CompiledCondition]
    let requestPhase: RuleReach
    let responsePhase: ResponseReach
    let errorPhase: [Int]
    /// The rules that ask what is in a request's body beside those that edit it, be it after it was sent.
    let requestBodyReaders: RuleReach
    /// The rules that may ask for another attempt.
    let retrying: [RuleCandidate]
    /// The rules that do more than edits.
    private let loggingIn: [RuleCandidate]
    /// Where rules may do without the origin.
    private let standIns: [Condition]
    let bodyNeeds: BodyNeeds
    /// Whether any rule has code of others look at responses.
    public let runsResponseCode: Bool
    /// Each phase tells how it went for every rule.
    let explains: Bool

    /// - Parameter explains: for whoever asks what becomes of one exchange, and why.
    public init(rules: [Rule], chain: ChainRules = ChainRules(), explains: Bool = false) {
        self.explains = explains
        let compiled = rules.enumerated().map { CompiledRule($1, at: $0, chain) }
        self.rules = compiled
        bodyNeeds = compiled.reduce([]) { $0.union($1.needs) }
        conditions = compiled.map { $0.matcher.condition.withoutBodies() }
        runsResponseCode = compiled.contains(where: \.response.runsCode)
        func places(_ isSuch: (Int) -> Bool) -> [RuleCandidate] {
            rules.indices.filter(isSuch).map { RuleCandidate($0, rules[$0].when) }
        }
        requestBodyReaders = RuleReach(places { compiled[$0].needs.has(.requestReaders) })
        loggingIn = places { rules[$0].login != nil }
        retrying = places { compiled[$0].needs.has(.retry) }
        func seen(_ index: Int) -> RuleCandidate { RuleCandidate(index, explains ? .always : rules[index].when) }
        let isReversed = chain.responseOrder == .reversed
        requestPhase = RuleReach(rules.indices.filter { compiled[$0].seesRequests }.map(seen))
        responsePhase = ResponseReach(compiled, isReversed: isReversed, seen)
        let handlers = rules.indices.filter { compiled[$0].seesErrors }
        errorPhase = isReversed ? handlers.reversed() : handlers
        standIns = rules.indices.filter {
            let edits: [any Edit] = compiled[$0].request.edits + compiled[$0].error.edits
            return edits.contains { type(of: $0).mayStandIn }
        }.map { rules[$0].when }
    }

    // MARK: what is known beforehand

    public var isEmpty: Bool { rules.isEmpty }
    /// Whether any rule logs in.
    public var logsIn: Bool { !loggingIn.isEmpty }
    /// False when no rule ever changes a response that is about to be delivered: nothing needs to be asked.
    public var hasResponseRules: Bool { !responsePhase[.delivery].isEmpty }
    /// The same before a step-up looks at it.
    public var preparesResponses: Bool { !responsePhase[.beforeStepUp].isEmpty }
    /// False when no rule has anything to say where there is no answer.
    public var hasErrorRules: Bool { !errorPhase.isEmpty }
    /// False where no interceptor ever wants a request's body to be kept.
    public var keepsRequestBodies: Bool { bodyNeeds.has([.requestBody, .ending, .retry]) }
    /// Whether any rule edits bodies or asks what is in them: else nobody needs to be asked.
    public var readsRequestBodies: Bool { bodyNeeds.has(.requestBody) }
    public var readsResponseBodies: Bool { bodyNeeds.has(.responseBody) }

    /// Whether a rule may answer in the place of the origin there, or lead to another.
    /// - Parameter host: nil for any.
    public func mayStandIn(for host: String?, port: UInt16) -> Bool {
        standIns.contains { $0.mayHold(at: host, port: port) }
    }

    // MARK: which rules a message meets

    /// The first rule that may change this request, or nil: only then is the head worth a copy.
    public func firstRequestMatch(_ head: borrowing RequestHead, _ classification: Classification?) -> Int? {
        if explains { return rules.isEmpty ? nil : 0 }
        let candidates = requestPhase(classification?.action)
        guard !candidates.isEmpty else { return nil }
        let traits = RequestGate.Traits(head, paths: candidates.asksPaths)
        guard let place = candidates.next(from: 0, traits) else { return nil }
        let subject = Subject(request: copy head, response: nil, classification: classification)
        return firstMatch(in: candidates, from: place, traits, subject)
    }

    /// The first rule that may change this response, or nil.
    /// - Parameter request: as it was sent.
    public func firstResponseMatch(
        _ response: borrowing ResponseHead, request: borrowing RequestHead, _ classification: Classification?,
        at stage: ResponseStage = .delivery
    ) -> Int? {
        let candidates = responsePhase[stage](classification?.action)
        if explains { return candidates.isEmpty ? nil : responsePhase.start(rules.count) }
        guard !candidates.isEmpty else { return nil }
        let traits = RequestGate.Traits(request, paths: candidates.asksPaths)
        guard let place = candidates.next(from: 0, traits) else { return nil }
        let subject = Subject(request: copy request, response: copy response, classification: classification)
        return firstMatch(in: candidates, from: place, traits, subject)
    }

    private func firstMatch(
        in candidates: RuleCandidates, from place: Int, _ traits: RequestGate.Traits, _ subject: Subject
    ) -> Int? {
        var place = place
        while true {
            let index = candidates[place].index
            if conditions[index].holds(for: subject) { return index }
            guard let next = candidates.next(from: place + 1, traits) else { return nil }
            place = next
        }
    }

    /// The logins of rules that apply to a request, in file order.
    /// - Parameter arrival: the request's body.
    public func logins(
        for head: RequestHead, body arrival: EditedBody.Arrival, _ context: inout EditContext
    ) -> [AppliedLogin] {
        guard !loggingIn.isEmpty else { return [] }
        let traits = RequestGate.Traits(head)
        let action = context.classification?.action
        let subject = Subject(request: head, response: nil, classification: context.classification)
        var bodies = SubjectBodies(request: arrivedBody(arrival, of: head, context))
        var found: [AppliedLogin] = []
        for candidate in loggingIn where candidate.demand.admits(action) && candidate.gate.admits(traits) {
            let rule = rules[candidate.index]
            guard let login = rule.login, rule.matcher.judge(subject, &bodies, context) == .yes else { continue }
            if takes(rule, &context) { found.append(login) }
        }
        return found
    }

    /// Whether the rule takes an exchange for which its condition holds. What takes some alone is shown at work.
    func takes(_ rule: CompiledRule, _ context: inout EditContext) -> Bool {
        explains || rule.matcher.takes(&context)
    }
}
