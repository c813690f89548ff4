internal import HTTPCodec

/// Decides whether a rule applies: evaluates its condition and its sampler.
struct RuleMatcher: Sendable {
    private let name: String
    /// The rule's position in the plan.
    private let index: Int
    let condition: CompiledCondition
    private let asksBodies: Bool
    let needsResponse: Bool
    let needsError: Bool
    /// Nil if the rule takes all exchanges that its condition accepts.
    let sampler: Sampler?
    /// True if the rule skips calls that Usher makes itself.
    private let sparesCalls: Bool

    init(_ rule: Rule, at index: Int) {
        name = rule.name
        self.index = index
        condition = CompiledCondition(rule.when)
        asksBodies = condition.asksBodies
        needsResponse = rule.when.needsResponse
        needsError = rule.when.needsError
        sampler = rule.sampling.isWhole ? nil : rule.sampler
        sparesCalls = rule.sparesCalls
    }

    /// Evaluates the condition; no if the sampler has already left the exchange out.
    func judge(_ subject: Subject, _ bodies: inout SubjectBodies, _ context: EditContext) -> Judgement {
        if leaves(context) { return .no }
        guard asksBodies else { return Judgement(condition.holds(for: subject)) }
        bodies.fault = nil
        return condition.judge(subject, &bodies)
    }

    /// Whether the rule may still apply after the request was sent, and needs the request's body for it.
    /// - Parameter readsBody: true if a template reads the body.
    func waitsForBody(_ early: Subject, _ context: EditContext, readsBody: Bool) -> Bool {
        if leaves(context) { return false }
        var bodies = SubjectBodies()
        if readsBody, TemplateNeeds.mayRead(early.request.fields) { return condition.judge(early, &bodies) != .no }
        return condition.needsBody(of: .request, early, &bodies)
    }

    private func leaves(_ context: EditContext) -> Bool {
        absence(context) != nil || sampler != nil && context.decisions.decision(on: index) == false
    }

    /// The reason why the rule never applies to this exchange; nil if it may.
    func absence(_ context: EditContext) -> StaticString? {
        if context.issuer == name { return "the call is of its own login" }
        return sparesCalls && context.classification?.isOwn == true
            ? "it holds up or breaks messages, so without \"by\" it leaves calls of Usher's own alone" : nil
    }

    /// Whether the sampler takes an exchange that the condition accepts.
    func takes(_ context: inout EditContext) -> Bool {
        guard let sampler else { return true }
        var decisions = context.decisions
        defer { context.decisions = decisions }
        return decisions.takes(index, sampler, &context.chance)
    }

    /// The reason why the condition could not read a body, reported once per exchange.
    func warning(_ bodies: SubjectBodies, _ context: inout EditContext) -> RuleNote? {
        guard asksBodies, let fault = bodies.fault, context.decisions.mayWarn(of: index) else { return nil }
        return RuleNote(name, fault)
    }
}
