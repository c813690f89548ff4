internal import HTTPCodec

/// When a rule applies: what its condition comes to, and which of the exchanges that fit it takes.
struct RuleMatcher: Sendable {
    private let name: String
    /// The rule's place among all.
    private let index: Int
    let condition: CompiledCondition
    private let asksBodies: Bool
    let needsResponse: Bool
    let needsError: Bool
    /// Nil where it takes all that fits.
    let sampler: Sampler?
    /// Calls of Usher's own are not for it.
    private let sparesCalls: Bool

    init(_ rule: Rule, at index: Int) {
        name = rule.name
        self.index = index
        condition = CompiledCondition(rule.when)
        asksBodies = condition.asksBodies
        needsResponse = rule.when.needsResponse
        needsError = rule.when.needsError
        sampler = rule.sampling.isWhole ? nil : Sampler(rule.sampling)
        sparesCalls = rule.sparesCalls
    }

    /// What its condition comes to; no where it was decided that it leaves the exchange.
    func judge(_ subject: Subject, _ bodies: inout SubjectBodies, _ context: EditContext) -> Judgement {
        if leaves(context) { return .no }
        guard asksBodies else { return Judgement(condition.holds(for: subject)) }
        bodies.fault = nil
        return condition.judge(subject, &bodies)
    }

    /// Whether it may apply once the request is out, and that hangs on the request's body, or a value of its edits does.
    /// - Parameter readsBody: such a value comes from there.
    func waitsForBody(_ early: Subject, _ context: EditContext, readsBody: Bool) -> Bool {
        if leaves(context) { return false }
        var bodies = SubjectBodies()
        if readsBody, TemplateNeeds.mayRead(early.request.fields) { return condition.judge(early, &bodies) != .no }
        return condition.needsBody(of: .request, early, &bodies)
    }

    private func leaves(_ context: EditContext) -> Bool {
        absence(context) != nil || sampler != nil && context.decisions.decision(on: index) == false
    }

    /// Why it has no part in an exchange, whatever its condition says; nil where it has.
    func absence(_ context: EditContext) -> StaticString? {
        if context.issuer == name { return "the call is of its own login" }
        return sparesCalls && context.classification?.isOwn == true
            ? "it holds up or breaks messages, so without \"by\" it leaves calls of Usher's own alone" : nil
    }

    /// Whether it takes an exchange for which its condition holds.
    func takes(_ context: inout EditContext) -> Bool {
        guard let sampler else { return true }
        var decisions = context.decisions
        defer { context.decisions = decisions }
        return decisions.takes(index, sampler, &context.chance)
    }

    /// Why its condition could not look at a body, once in an exchange.
    func warning(_ bodies: SubjectBodies, _ context: inout EditContext) -> RuleNote? {
        guard asksBodies, let fault = bodies.fault, context.decisions.mayWarn(of: index) else { return nil }
        return RuleNote(name, fault)
    }
}
