internal import HTTPCodec

/// A `Rule` made ready for many requests. An object, so that a request that it applies to copies nothing of it.
final class CompiledRule: Sendable {
    let name: String
    /// Its place among all.
    private let index: Int
    let matcher: RuleMatcher
    let request: PhaseEdits<any RequestEdit>
    let response: PhaseEdits<any ResponseEdit>
    let error: PhaseEdits<any ErrorEdit>
    /// Its edits of a response are made before a step-up looks at that.
    let comesBeforeStepUp: Bool
    /// What becomes of a message whose body an edit cannot be made to.
    let policy: BodyPolicy
    let scope: ExchangeState.Scope
    /// The one who speaks last has it sent again, or not.
    let lastDecides: Bool
    let login: AppliedLogin?
    let needs: BodyNeeds

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
    }

    // MARK: which phases it takes part in

    var seesRequests: Bool { !request.isEmpty && !matcher.needsError && !matcher.needsResponse }

    func seesResponses(at stage: ResponseStage) -> Bool {
        !response.isEmpty && !matcher.needsError && comesBeforeStepUp == (stage == .beforeStepUp)
    }

    var seesErrors: Bool { !error.isEmpty && !matcher.needsResponse }

    // MARK: what it does

    /// - Parameters:
    ///   - bodies: those that are here.
    ///   - resumption: where the phase goes on in the middle of them.
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

    /// - Parameters:
    ///   - bodies: those that are here.
    ///   - request: as it was sent.
    ///   - resumption: where the phase goes on in the middle of them.
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

    /// Does what is to be done where there is no answer.
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

    /// An edit of a body that is not there says so, whatever its values would be.
    private static func mayFind(_ edit: any Edit, _ body: EditedBody?) -> Bool {
        guard let edit = edit as? any BodyEdit, !edit.makesBody else { return true }
        return body?.isEmpty == false
    }

    /// Has the values of an edit filled in.
    /// - Returns: nil where nothing is left to be done.
    private func fill<One>(
        _ bodies: inout SubjectBodies, _ context: inout EditContext, _ outcome: inout Outcome,
        _ request: RequestHead, _ response: ResponseHead? = nil,
        _ fill: (inout TemplateFiller) throws(EditFault) -> One?
    ) throws(EditFault) -> One? {
        var filler = TemplateFiller(context, scope, policy, request: request, response: response, bodies: bodies)
        // there is one of each, so that its bytes are changed where they are
        bodies = SubjectBodies()
        defer { bodies = filler.bodies }
        let filled = try fill(&filler)
        context.chance = filler.context.chance
        outcome.warnings += filler.warnings.map { RuleNote(name, $0) }
        return filled
    }

    /// Makes an edit of the body; nil where it is none.
    private func change(
        _ edit: any Edit, _ fields: inout FieldTable, _ body: inout EditedBody?
    ) throws(EditFault) -> EditEffect? {
        guard body != nil, let edit = edit as? any BodyEdit, var found = body.take() else { return nil }
        defer { body = found }
        // either side may have changed the type since
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

    /// Makes the edits of one phase, in order, up to the first that ends the chain. One that cannot be made ends it
    /// as well: nothing invalid is ever sent.
    private func run<One>(
        _ phase: PhaseEdits<One>, from start: Int = 0, _ context: inout EditContext, _ outcome: inout Outcome,
        _ apply: (One, _ isFilled: Bool, inout EditContext, inout Outcome) throws(EditFault) -> EditEffect
    ) {
        let words = phase.words
        var notes: [String] = []
        // how many of them were made just as they were asked for, before the first that was not
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
