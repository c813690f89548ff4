internal import HTTPCodec

/// A `Rule` compiled for many requests. A class, so that applying it copies nothing.
final class CompiledRule: Sendable {
    let name: String
    /// The position in the plan.
    private let index: Int
    let matcher: RuleMatcher
    let request: PhaseEdits<any RequestEdit>
    let response: PhaseEdits<any ResponseEdit>
    let error: PhaseEdits<any ErrorEdit>
    /// True if response edits run before the step-up looks at the response.
    let comesBeforeStepUp: Bool
    /// The handling of a body that an edit cannot change.
    let policy: BodyPolicy
    let scope: ExchangeState.Scope
    /// True if the last interceptor decides about a retry.
    let lastDecides: Bool
    let login: AppliedLogin?
    let needs: BodyNeeds
    /// What an environment has to allow for the rule to apply.
    let powers: Powers
    /// True if the request phase may keep the request from its origin.
    let standsIn: Bool

    init(_ rule: Rule, at index: Int, _ chain: ChainRules) {
        name = rule.name
        self.index = index
        matcher = RuleMatcher(rule, at: index)
        request = PhaseEdits(rule.name, rule.request, rule.request)
        response = PhaseEdits(rule.name, rule.response, rule.response)
        let errorEdits = chain.errorEdits(of: rule)
        error = PhaseEdits(rule.name, errorEdits, errorEdits)
        comesBeforeStepUp = rule.comesBeforeStepUp
        policy = rule.bodies
        scope = rule.sharesState || chain.sharesState ? .shared : .own(rule.name)
        lastDecides = chain.lastDecides
        login = rule.login.map { AppliedLogin(interceptor: rule.name, login: $0, hosts: HostGuard(rule.when)) }
        var needs = BodyNeeds(matcher.condition, request, response, error)
        if rule.mayRetry { needs.insert(.retry) }
        if !matcher.needsError, !matcher.needsResponse, request.edits.contains(where: { type(of: $0).isLast }) {
            needs.insert(.ending)
        }
        self.needs = needs
        powers = rule.powers
        standsIn = rule.request.contains { type(of: $0).mayStandIn }
    }

    // MARK: phases

    var seesRequests: Bool { !request.isEmpty && !matcher.needsError && !matcher.needsResponse }

    func seesResponses(at stage: ResponseStage) -> Bool {
        !response.isEmpty && !matcher.needsError && comesBeforeStepUp == (stage == .beforeStepUp)
    }

    var seesErrors: Bool { !error.isEmpty && !matcher.needsResponse }

    // MARK: edits

    /// Applies the edits of the request phase.
    /// - Parameter resumption: where to continue, if the phase waited in the middle of these edits.
    func edit(
        _ head: inout RequestHead, _ bodies: inout SubjectBodies, _ context: inout EditContext,
        _ outcome: inout Outcome, after resumption: Resumption? = nil
    ) {
        var resumption = resumption
        let start = resumption?.suspension.place ?? 0
        run(request, from: start, &context, &outcome) { edit, isFilled, context, outcome throws(EditFault) in
            if request.runsCode, let edit = edit as? SwiftEdit {
                return try ask(edit, &head, &bodies, &context, &outcome, after: resumption.take())
            }
            var edit = edit
            if isFilled, Self.mayFind(edit, bodies.request) {
                let filled = try fill(&bodies, &context, &outcome, head) { filler throws(EditFault) in
                    try edit.filled(by: &filler)
                }
                guard let filled else { return .changed([]) }
                edit = filled
            }
            if let effect = try change(edit, &head.fields, &bodies.request) { return effect }
            let effect = try edit.apply(to: &head)
            return isFilled ? effect.told(by: edit) : effect
        }
    }

    /// Applies the edits of the response phase.
    /// - Parameters:
    ///   - request: as it was sent.
    ///   - resumption: where to continue, if the phase waited in the middle of these edits.
    func edit(
        _ head: inout ResponseHead, _ bodies: inout SubjectBodies, request: RequestHead,
        _ context: inout EditContext, _ outcome: inout Outcome, after resumption: Resumption? = nil
    ) {
        var resumption = resumption
        let start = resumption?.suspension.place ?? 0
        run(response, from: start, &context, &outcome) { edit, isFilled, context, outcome throws(EditFault) in
            if response.runsCode, let edit = edit as? SwiftEdit {
                return try ask(
                    edit, &head, &bodies, request: request, &context, &outcome, after: resumption.take())
            }
            var edit = edit
            if isFilled, Self.mayFind(edit, bodies.response) {
                let filled = try fill(&bodies, &context, &outcome, request, head) { filler throws(EditFault) in
                    try edit.filled(by: &filler)
                }
                guard let filled else { return .changed([]) }
                edit = filled
            }
            if let effect = try change(edit, &head.fields, &bodies.response) { return effect }
            let effect = try edit.apply(to: &head)
            return isFilled ? effect.told(by: edit) : effect
        }
    }

    /// Applies the edits of the error phase.
    /// - Parameter request: as it was sent.
    func handle(
        _ request: RequestHead, _ bodies: inout SubjectBodies, _ context: inout EditContext, _ outcome: inout Outcome
    ) {
        run(error, &context, &outcome) { edit, isFilled, context, outcome throws(EditFault) in
            guard isFilled else { return try edit.apply() }
            let filled = try fill(&bodies, &context, &outcome, request) { filler throws(EditFault) in
                try edit.filled(by: &filler)
            }
            return try filled.map { filled throws(EditFault) in try filled.apply().told(by: filled) } ?? .changed([])
        }
    }

    /// False for a body edit without a body: it reports that itself, so its templates need not be filled.
    private static func mayFind(_ edit: any Edit, _ body: EditedBody?) -> Bool {
        guard let edit = edit as? any BodyEdit, !edit.makesBody else { return true }
        return body?.isEmpty == false
    }

    /// Fills in the templates of an edit.
    /// - Returns: nil if nothing is left to do.
    private func fill<One>(
        _ bodies: inout SubjectBodies, _ context: inout EditContext, _ outcome: inout Outcome,
        _ request: RequestHead, _ response: ResponseHead? = nil,
        _ fill: (inout TemplateFiller) throws(EditFault) -> One?
    ) throws(EditFault) -> One? {
        var filler = TemplateFiller(context, scope, policy, request: request, response: response, bodies: bodies)
        // moved rather than copied, so that the body is changed in place
        bodies = SubjectBodies()
        defer { bodies = filler.bodies }
        let filled = try fill(&filler)
        context.chance = filler.context.chance
        outcome.warnings += filler.warnings.map { RuleNote(name, $0) }
        return filled
    }

    /// Applies a body edit; nil if `edit` is no body edit.
    private func change(
        _ edit: any Edit, _ fields: inout FieldTable, _ body: inout EditedBody?
    ) throws(EditFault) -> EditEffect? {
        guard body != nil, let edit = edit as? any BodyEdit, var found = body.take() else { return nil }
        defer { body = found }
        // an edit of the fields may have changed the type
        let type = fields["Content-Type"]
        found.contentType = type
        let effect = try edit.attempt(on: &found, policy)
        if let new = found.contentType, new != type {
            let pair = Pair("Content-Type", new)
            try HeaderEdit.check(pair)
            fields.set(pair.name, pair.value)
        }
        return effect
    }

    /// Applies the edits of one phase in order, up to the first that ends the chain. An edit that fails aborts the exchange, so
    /// nothing invalid is sent.
    private func run<One>(
        _ phase: PhaseEdits<One>, from start: Int = 0, _ context: inout EditContext, _ outcome: inout Outcome,
        _ apply: (One, _ isFilled: Bool, inout EditContext, inout Outcome) throws(EditFault) -> EditEffect
    ) {
        let words = phase.words
        var notes: [String] = []
        // the number of leading edits that were applied in full
        var done = 0
        do throws(EditFault) {
            for place in start..<phase.edits.count where outcome.verdict == .proceed {
                switch try apply(phase.edits[place], phase.templates.concern(place), &context, &outcome) {
                case .done where done == place: done += 1
                case .done: notes += words[place]
                case .changed(let words): notes += words
                case .kept(let changes): notes += try keep(changes, &context)
                case .suspend(let call): outcome.verdict = .suspend(Suspension(call, rule: index, place: place))
                case let effect: notes += outcome.take(effect, of: name, lastDecides: lastDecides, &context)
                }
            }
        } catch {
            notes += outcome.aborted(error.reason, by: name)
        }
        if done > 0, done == phase.edits.count {
            outcome.changes.append(words.all)
        } else if done > 0 || !notes.isEmpty {
            outcome.changes.append(words.note(words.first(done) + notes, outcome.verdict.deed))
        }
    }

    func keep(_ changes: [StateChange], _ context: inout EditContext) throws(EditFault) -> [String] {
        var state = context.state ?? ExchangeState()
        for change in changes {
            do throws(StateFault) {
                try state.set(change.name, to: change.value, from: change.origins, in: scope)
            } catch {
                throw EditFault(reason: "state \(change.name): \(error.explanation)")
            }
        }
        context.state = state
        return changes.map { $0.value == nil ? "let go of state \($0.name)" : "kept state \($0.name)" }
    }
}
