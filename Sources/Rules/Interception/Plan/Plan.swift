public import HTTPCodec

/// The compiled rules of a configuration, indexed by phase and Action. A phase (`PhaseRun`) runs its rules in order, each on the
/// result of the one before; the first `respond` or `abort` ends it.
///
/// A class, so that requests share it without a copy.
public final class Plan: Sendable {
    let rules: [CompiledRule]
    /// The conditions of `rules` without their bodies, stored side by side for a fast search.
    private let conditions: [CompiledCondition]
    let requestPhase: RuleReach
    let responsePhase: ResponseReach
    let errorPhase: [Int]
    /// The rules with conditions on the request's body, including those evaluated after it was sent.
    let requestBodyReaders: RuleReach
    /// The rules that may request a retry.
    let retrying: [RuleCandidate]
    /// The rules with a login.
    private let loggingIn: [RuleCandidate]
    /// The conditions of rules that may respond in place of the origin.
    private let standIns: [Condition]
    let bodyNeeds: BodyNeeds
    /// Whether a Swift interceptor takes part in the response phase.
    public let runsResponseCode: Bool
    /// True if each phase records a verdict for every rule.
    let explains: Bool
    /// Nil if no host has one.
    let environments: Environments?

    /// - Parameter explains: true for `explain` and `test`, which show why an exchange ended as it did.
    public init(
        rules: [Rule], chain: ChainRules = ChainRules(), environments: Environments = Environments(),
        explains: Bool = false
    ) {
        self.explains = explains
        self.environments = environments.isEmpty ? nil : environments
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

    // MARK: precomputed facts

    public var isEmpty: Bool { rules.isEmpty }
    /// Whether any rule has a login.
    public var logsIn: Bool { !loggingIn.isEmpty }
    /// False if no rule edits responses at delivery.
    public var hasResponseRules: Bool { !responsePhase[.delivery].isEmpty }
    /// The same for the stage before the step-up.
    public var preparesResponses: Bool { !responsePhase[.beforeStepUp].isEmpty }
    /// False if no rule takes part in the error phase.
    public var hasErrorRules: Bool { !errorPhase.isEmpty }
    /// False if no interceptor needs a request's body to be kept.
    public var keepsRequestBodies: Bool { bodyNeeds.has([.requestBody, .ending, .retry]) }
    /// Whether any rule edits request bodies or has a condition on them.
    public var readsRequestBodies: Bool { bodyNeeds.has(.requestBody) }
    public var readsResponseBodies: Bool { bodyNeeds.has(.responseBody) }

    /// Whether a rule may respond in place of this origin, or send its requests elsewhere.
    /// - Parameter host: nil for any host.
    public func mayStandIn(for host: String?, port: UInt16) -> Bool {
        standIns.contains { $0.mayHold(at: host, port: port) }
    }

    // MARK: search

    /// The first rule that may change this request; nil if there is none, and the head need not be copied. Behind the last rule,
    /// environments judge calls and limit the rate.
    public func firstRequestMatch(_ head: borrowing RequestHead, _ classification: Classification?) -> Int? {
        if let first = firstRequestRule(head, classification) { return first }
        guard let environments else { return nil }
        return environments.limitRates || classification?.isOwn == true ? rules.count : nil
    }

    private func firstRequestRule(_ head: borrowing RequestHead, _ classification: Classification?) -> Int? {
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

    /// The logins of the rules that apply to a request, in file order.
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

    /// Whether the sampler takes an exchange that the condition accepts. A plan that explains takes all.
    func takes(_ rule: CompiledRule, _ context: inout EditContext) -> Bool {
        explains || rule.matcher.takes(&context)
    }
}
