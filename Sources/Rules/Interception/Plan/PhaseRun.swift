internal import HTTPCodec

/// One run of a phase over a message: the available bodies and the outcome so far.
struct PhaseRun: ~Copyable {
    private let plan: Plan
    private var bodies: SubjectBodies
    private var outcome = Outcome()

    /// - Parameter bodies: the bodies that are available.
    init(_ plan: Plan, _ phase: PhaseJudgement.Phase, _ bodies: SubjectBodies = SubjectBodies()) {
        self.plan = plan
        self.bodies = bodies
        if plan.explains { outcome.judgement = PhaseJudgement(phase, []) }
    }

    /// Continues a run that waited.
    /// - Parameter outcome: the outcome so far.
    init(_ plan: Plan, _ suspension: Suspension, after outcome: Outcome) {
        self.plan = plan
        bodies = suspension.bodies
        self.outcome = outcome
        self.outcome.verdict = .proceed
    }

    private func subject(
        _ request: RequestHead, _ context: EditContext, response: ResponseHead? = nil
    ) -> Subject {
        Subject(request: request, response: response, classification: context.classification)
    }

    /// Whether the rule applies: its condition holds, its sampler takes the exchange, and the environment allows it.
    private mutating func applies(_ rule: CompiledRule, to subject: Subject, _ context: inout EditContext) -> Bool {
        let holds = rule.matcher.judge(subject, &bodies, context) == .yes
        if let warning = rule.matcher.warning(bodies, &context) { outcome.warnings.append(warning) }
        let refusal = holds ? plan.environments?.refusal(of: rule.powers, at: subject.request.host) : nil
        outcome.judgement?.add(rule, holds, refusal, subject, &bodies, context)
        guard holds, plan.takes(rule, &context) else { return false }
        if let refusal {
            outcome.refuse(rule, refusal, isRequest: subject.response == nil && subject.error == nil)
        } else if plan.environments != nil {
            outcome.powers.formUnion(rule.powers)
        }
        return refusal == nil
    }

    // MARK: rules, up to the first that ends the phase or waits

    /// - Parameter index: the position of the first rule.
    mutating func request(from index: Int, _ head: inout RequestHead, _ context: inout EditContext) {
        guard outcome.goesOn else { return }
        let candidates = plan.requestPhase(context.classification?.action)
        var traits: RequestGate.Traits?
        var place = candidates.place(of: index)
        while place < candidates.endIndex {
            let rule = plan.rules[candidates[place].index]
            if applies(rule, to: subject(head, context), &context) {
                rule.edit(&head, &bodies, &context, &outcome)
                guard outcome.goesOn else { return }
                // an edit may open the gate of a later rule
                traits = nil
            } else if !outcome.goesOn {
                return
            }
            guard place + 1 < candidates.endIndex else { return }
            let shown = traits ?? RequestGate.Traits(head, paths: candidates.asksPaths)
            traits = shown
            place = candidates.next(from: place + 1, shown) ?? candidates.endIndex
        }
    }

    mutating func resumeRequest(_ resumption: Resumption, _ head: inout RequestHead, _ context: inout EditContext) {
        let index = resumption.suspension.rule
        plan.rules[index].edit(&head, &bodies, &context, &outcome, after: resumption)
        request(from: index + 1, &head, &context)
    }

    mutating func response(
        from index: Int, _ response: inout ResponseHead, request: RequestHead, _ context: inout EditContext,
        at stage: ResponseStage
    ) {
        guard outcome.goesOn else { return }
        for candidate in plan.responsePhase[stage](context.classification?.action)
        where plan.responsePhase.isReached(candidate.index, from: index) {
            let rule = plan.rules[candidate.index]
            guard applies(rule, to: subject(request, context, response: response), &context) else { continue }
            rule.edit(&response, &bodies, request: request, &context, &outcome)
            guard outcome.goesOn else { return }
        }
    }

    mutating func resumeResponse(
        _ resumption: Resumption, _ response: inout ResponseHead, request: RequestHead, _ context: inout EditContext,
        at stage: ResponseStage
    ) {
        let index = resumption.suspension.rule
        plan.rules[index].edit(&response, &bodies, request: request, &context, &outcome, after: resumption)
        let place = plan.responsePhase.place(behind: index)
        self.response(from: place, &response, request: request, &context, at: stage)
    }

    mutating func error(_ fault: OriginFault, _ request: RequestHead, _ context: inout EditContext) -> Outcome {
        let subject = Subject(
            request: request, response: nil, classification: context.classification, error: fault)
        for index in plan.errorPhase where outcome.goesOn {
            let rule = plan.rules[index]
            if applies(rule, to: subject, &context) { rule.handle(request, &bodies, &context, &outcome) }
        }
        return take(subject)
    }

    // MARK: outcome

    /// Ends the request phase. If the phase waits, its body is kept with it.
    mutating func end(_ head: inout RequestHead, _ context: EditContext) -> BodyOutcome {
        if isWaiting() { return BodyOutcome(outcome: take()) }
        if let environments = plan.environments {
            outcome.arrive(
                at: head.host, isOwn: context.classification?.isOwn == true, environments)
        }
        let outcome = plan.explains ? take(subject(head, context)) : take()
        guard var body = bodies.request.take(), body.isChanged else { return BodyOutcome(outcome: outcome) }
        return BodyOutcome(outcome: outcome, body: .replaced(body.settle(&head.fields)))
    }

    /// Ends the response phase in the same way.
    /// - Parameter cameWithBody: true if the response arrived with a body.
    mutating func end(
        _ response: inout ResponseHead, request: RequestHead, _ context: EditContext, cameWithBody: Bool
    ) -> BodyOutcome {
        if isWaiting(cameWithBody: cameWithBody) { return BodyOutcome(outcome: take()) }
        let outcome = plan.explains ? take(subject(request, context, response: response)) : take()
        guard var body = bodies.response.take() else { return BodyOutcome(outcome: outcome) }
        guard response.mayHaveBody(answering: request.method) else {
            // the fields describe the original body, which an edit would change (RFC 9110 §8.6)
            if body.isAsked || cameWithBody { EditedBody.forget(&response.fields) }
            return BodyOutcome(outcome: outcome, body: .none)
        }
        guard body.isChanged else { return BodyOutcome(outcome: outcome) }
        return BodyOutcome(outcome: outcome, body: .replaced(body.settle(&response.fields)))
    }

    private mutating func isWaiting(cameWithBody: Bool = false) -> Bool {
        guard case .suspend = outcome.verdict else { return false }
        outcome.keep(bodies, cameWithBody: cameWithBody)
        return true
    }

    /// Moves the outcome out without a copy.
    /// - Parameter subject: the message after the phase, for plans that explain themselves.
    private mutating func take(_ subject: Subject? = nil) -> Outcome {
        var outcome = Outcome()
        swap(&outcome, &self.outcome)
        if let subject { outcome.judgement?.complete(plan.rules, outcome.verdict, outcome.stopped, subject, bodies) }
        return outcome
    }
}

extension ResponseHead {
    /// Whether the response has a body (RFC 9112 §6.3).
    func mayHaveBody(answering method: Method) -> Bool {
        method != .head && status >= 200 && status != 204 && status != 304
    }
}
