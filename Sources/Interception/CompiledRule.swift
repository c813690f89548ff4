internal import HTTPCodec

/// A `Rule` made ready for many requests.
struct CompiledRule: Sendable {
    let name: String
    /// Its place among all.
    private let index: Int
    let condition: CompiledCondition
    let needsResponse: Bool
    let needsError: Bool
    let request: [any RequestEdit]
    let response: [any ResponseEdit]
    let error: [any ErrorEdit]
    private let bodies: BodyPolicy
    private let asksBodies: Bool
    /// Nil where it takes all that fits.
    let sampler: Sampler?

    init(_ rule: Rule, at index: Int) {
        name = rule.name
        self.index = index
        condition = CompiledCondition(rule.when)
        asksBodies = condition.asksBodies
        sampler = rule.sampling.isWhole ? nil : Sampler(rule.sampling)
        needsResponse = rule.when.needsResponse
        needsError = rule.when.needsError
        request = rule.request
        response = rule.response
        error = rule.error
        bodies = rule.bodies
    }

    // MARK: whether it applies

    /// What its condition comes to; no where it was decided that it leaves the exchange.
    func judge(_ subject: Subject, _ bodies: inout SubjectBodies, _ context: EditContext) -> Judgement {
        if leaves(context) { return .no }
        guard asksBodies else { return Judgement(condition.holds(for: subject)) }
        bodies.fault = nil
        return condition.judge(subject, &bodies)
    }

    /// Whether it may apply once the request is out, and that hangs on the request's body.
    func waitsForBody(_ early: Subject, _ context: EditContext) -> Bool {
        if leaves(context) { return false }
        var bodies = SubjectBodies()
        return condition.needsBody(of: .request, early, &bodies)
    }

    private func leaves(_ context: EditContext) -> Bool {
        sampler != nil && context.decisions.decision(on: index) == false
    }

    /// Whether it takes an exchange for which its condition holds.
    func takes(_ context: inout EditContext) -> Bool {
        guard let sampler else { return true }
        var decisions = context.decisions
        defer { context.decisions = decisions }
        return decisions.takes(index, sampler, &context.chance)
    }

    /// Tells, once in an exchange, why its condition could not look at a body.
    func warn(_ bodies: SubjectBodies, _ context: inout EditContext, _ outcome: inout Outcome) {
        guard asksBodies, let fault = bodies.fault, context.decisions.mayWarn(of: index) else { return }
        outcome.warnings.append("\(name): \(fault)")
    }

    // MARK: what it does

    func edit(_ head: inout RequestHead, _ context: inout EditContext, _ outcome: inout Outcome) {
        run(request, &outcome) { edit throws(EditFault) in try edit.apply(to: &head) }
    }

    func edit(_ head: inout ResponseHead, _ context: inout EditContext, _ outcome: inout Outcome) {
        run(response, &outcome) { edit throws(EditFault) in try edit.apply(to: &head) }
    }

    func edit(
        _ head: inout RequestHead, _ body: inout EditedBody, _ context: inout EditContext, _ outcome: inout Outcome
    ) {
        run(request, &outcome) { edit throws(EditFault) in
            if let effect = try change(edit, &head.fields, &body) { return effect }
            return try edit.apply(to: &head)
        }
    }

    func edit(
        _ head: inout ResponseHead, _ body: inout EditedBody, _ context: inout EditContext, _ outcome: inout Outcome
    ) {
        run(response, &outcome) { edit throws(EditFault) in
            if let effect = try change(edit, &head.fields, &body) { return effect }
            return try edit.apply(to: &head)
        }
    }

    /// Does what is to be done where there is no answer.
    func handle(_ outcome: inout Outcome) {
        run(error, &outcome) { edit throws(EditFault) in try edit.apply() }
    }

    /// Makes an edit of the body; nil where it is none.
    private func change(
        _ edit: any Edit, _ fields: inout FieldTable, _ body: inout EditedBody
    ) throws(EditFault) -> EditEffect? {
        guard let edit = edit as? any BodyEdit else { return nil }
        // either side may have changed the type since
        let type = fields["Content-Type"]
        body.contentType = type
        let effect = try edit.attempt(on: &body, bodies)
        if let new = body.contentType, new != type {
            let pair = Pair("Content-Type", new)
            try HeaderEdit.check(pair)
            fields.set(pair.name, pair.value)
        }
        return effect
    }

    /// Makes the edits of one phase, in order, up to the first that ends the chain. One that cannot be made ends it
    /// as well: nothing invalid is ever sent.
    private func run<One>(
        _ edits: [One], _ outcome: inout Outcome, _ apply: (One) throws(EditFault) -> EditEffect
    ) {
        var notes: [String] = []
        do throws(EditFault) {
            for edit in edits where outcome.verdict == .proceed {
                switch try apply(edit) {
                case .changed(let words): notes += words
                case .warned(let words): outcome.warnings.append("\(name): \(words)")
                case .delay(let time): outcome.delays.append(time)
                case .throttle(let rate): outcome.throttle = min(rate, outcome.throttle ?? rate)
                case .retry(let policy): outcome.retries.append(RetryWish(interceptor: name, policy: policy))
                case .respond(let answer):
                    notes.append("answered \(answer.status) in the origin's place")
                    outcome.verdict = .respond(answer, interceptor: name)
                case .abort(let reason):
                    notes.append("aborted: \(reason)")
                    outcome.verdict = .abort(interceptor: name, reason: reason)
                }
            }
        } catch {
            notes.append("aborted: \(error.reason)")
            outcome.verdict = .abort(interceptor: name, reason: error.reason)
        }
        if !notes.isEmpty { outcome.changes.append("\(name): \(notes.joined(separator: ", "))") }
    }
}
