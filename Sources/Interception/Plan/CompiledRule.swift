internal import HTTPCodec

/// A `Rule` made ready for many requests. An object, so that a request that it applies to copies nothing of it.
final class CompiledRule: Sendable {
    let name: String
    /// Its place among all.
    private let index: Int
    let condition: CompiledCondition
    let needsResponse: Bool
    let needsError: Bool
    let request: [any RequestEdit]
    let response: [any ResponseEdit]
    let error: [any ErrorEdit]
    let login: RuleLogin?
    /// Where that may be made.
    let hosts: HostGuard?
    /// What the values of its edits ask for that are filled in.
    let requestTemplates: TemplateNeeds
    let responseTemplates: TemplateNeeds
    private let errorTemplates: TemplateNeeds
    private let requestWords: EditWords
    private let responseWords: EditWords
    private let errorWords: EditWords
    let policy: BodyPolicy
    let scope: ExchangeState.Scope
    let asksBodies: Bool
    /// The one who speaks last has it sent again, or not.
    let lastDecides: Bool
    /// Code of others is among its edits, which is not run to see what would come of it.
    let runsRequestCode: Bool
    let runsResponseCode: Bool
    /// Nil where it takes all that fits.
    let sampler: Sampler?
    /// Calls of Usher's own are not for it.
    private let sparesCalls: Bool
    /// Its edits of a response are made before a step-up looks at that.
    let comesBeforeStepUp: Bool

    init(_ rule: Rule, at index: Int, _ chain: ChainRules) {
        name = rule.name
        self.index = index
        condition = CompiledCondition(rule.when)
        asksBodies = condition.asksBodies
        sampler = rule.sampling.isWhole ? nil : Sampler(rule.sampling)
        sparesCalls = rule.sparesCalls
        comesBeforeStepUp = rule.comesBeforeStepUp
        needsResponse = rule.when.needsResponse
        needsError = rule.when.needsError
        request = rule.request
        response = rule.response
        error = chain.errorEdits(of: rule)
        lastDecides = chain.lastDecides
        login = rule.login
        hosts = rule.login == nil ? nil : HostGuard(rule.when)
        requestTemplates = TemplateNeeds(rule.request)
        responseTemplates = TemplateNeeds(rule.response)
        errorTemplates = TemplateNeeds(error)
        requestWords = EditWords(rule.name, request)
        responseWords = EditWords(rule.name, response)
        errorWords = EditWords(rule.name, error)
        policy = rule.bodies
        scope = rule.sharesState || chain.sharesState ? .shared : .own(rule.name)
        runsRequestCode = rule.request.contains { $0 is SwiftEdit }
        runsResponseCode = rule.response.contains { $0 is SwiftEdit }
    }

    // MARK: whether it applies

    /// What its condition comes to; no where it was decided that it leaves the exchange.
    func judge(_ subject: Subject, _ bodies: inout SubjectBodies, _ context: EditContext) -> Judgement {
        if leaves(context) { return .no }
        guard asksBodies else { return Judgement(condition.holds(for: subject)) }
        bodies.fault = nil
        return condition.judge(subject, &bodies)
    }

    /// Whether it may apply once the request is out, and that hangs on the request's body, or a value of its edits does.
    func waitsForBody(_ early: Subject, _ context: EditContext) -> Bool {
        if leaves(context) { return false }
        var bodies = SubjectBodies()
        if readsSentBody, TemplateNeeds.mayRead(early.request.fields) {
            return condition.judge(early, &bodies) != .no
        }
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

    /// Tells, once in an exchange, why its condition could not look at a body.
    func warn(_ bodies: SubjectBodies, _ context: inout EditContext, _ outcome: inout Outcome) {
        guard asksBodies, let fault = bodies.fault, context.decisions.mayWarn(of: index) else { return }
        outcome.warnings.append(RuleNote(name, fault))
    }

    // MARK: what it does

    /// It looks at a body, should it apply.
    var mayReadRequestBody: Bool {
        asksBodies || requestTemplates.requestBody || request.contains(where: \.readsBody)
    }

    var mayReadResponseBody: Bool {
        asksBodies || responseTemplates.responseBody || response.contains(where: \.readsBody)
    }

    /// A value of its edits comes from the request's body once that was sent.
    var readsSentBody: Bool { responseTemplates.requestBody || errorTemplates.requestBody }

    /// - Parameters:
    ///   - bodies: those that are here.
    ///   - resumption: where the phase goes on in the middle of them.
    func edit(
        _ head: inout RequestHead, _ bodies: inout SubjectBodies, _ context: inout EditContext,
        _ outcome: inout Outcome, after resumption: Resumption? = nil
    ) {
        var resumption = resumption
        let start = resumption?.suspension.place ?? 0
        run(request, from: start, requestTemplates, requestWords, &context, &outcome) {
            edit, isFilled, context, outcome throws(EditFault) in
            if runsRequestCode, let edit = edit as? SwiftEdit {
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
        run(response, from: start, responseTemplates, responseWords, &context, &outcome) {
            edit, isFilled, context, outcome throws(EditFault) in
            if runsResponseCode, let edit = edit as? SwiftEdit {
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
        run(error, errorTemplates, errorWords, &context, &outcome) {
            edit, isFilled, context, outcome throws(EditFault) in
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
        _ edits: [One], from start: Int = 0, _ templates: TemplateNeeds, _ words: EditWords,
        _ context: inout EditContext,
        _ outcome: inout Outcome,
        _ apply: (One, _ isFilled: Bool, inout EditContext, inout Outcome) throws(EditFault) -> EditEffect
    ) {
        var notes: [String] = []
        // how many of them were made just as they were asked for, before the first that was not
        var done = 0
        do throws(EditFault) {
            for place in start..<edits.count where outcome.verdict == .proceed {
                switch try apply(edits[place], templates.concern(place), &context, &outcome) {
                case .done where done == place: done += 1
                case .done: notes += words[place]
                case .changed(let words): notes += words
                case .warned(let words): outcome.warnings.append(RuleNote(name, words))
                case .delay(let time): outcome.delays.append(DelayWish(interceptor: name, time: time))
                case .throttle(let rate): outcome.throttles.append(ThrottleWish(interceptor: name, rate: rate))
                case .retry(let policy):
                    let wish = RetryWish(interceptor: name, policy: policy)
                    outcome.retries.insert(wish, at: lastDecides ? 0 : outcome.retries.count)
                case .noRetry:
                    guard lastDecides, let last = outcome.retries.first else { break }
                    notes.append("took back that \(last.interceptor) asked for another attempt")
                    outcome.retries.removeAll()
                case .stop:
                    notes.append("stopped the chain")
                    outcome.stopped = outcome.stopped ?? name
                case .timeout(let time):
                    notes.append("gives it up after \(time) ms without an answer")
                    if time < outcome.timeout?.milliseconds ?? .max {
                        outcome.timeout = TimeoutWish(interceptor: name, milliseconds: time)
                    }
                case .log(let parts): outcome.logged.append(LoggedText(interceptor: name, parts: parts))
                case .kept(let changes): notes += try keep(changes, &context)
                case .suspend(let call): outcome.verdict = .suspend(Suspension(call, rule: index, place: place))
                case .respond(let answer):
                    notes.append("answered \(answer.status) in the origin's place")
                    outcome.verdict = .respond(answer, interceptor: name)
                case .respondInTurn(let counter, let answers):
                    var decisions = context.decisions
                    let turn = context.isTrial ? 0 : decisions.turn(at: counter)
                    let answer = answers[min(turn, answers.count - 1)]
                    context.decisions = decisions
                    notes.append("answered \(answer.status) in the origin's place")
                    outcome.verdict = .respond(answer, interceptor: name)
                case .abort(let reason):
                    notes.append("aborted: \(reason)")
                    outcome.verdict = .abort(interceptor: name, reason: reason)
                case .limit(let policy):
                    let number = outcome.limits.count { $0.interceptor == name }
                    outcome.limits.append(LimitWish(interceptor: name, number: number, policy: policy))
                    notes.append("no more than \(policy.words)")
                case .breaks(let breakage):
                    notes.append("fault \(breakage.rawValue)")
                    outcome.verdict = .breaks(breakage, interceptor: name)
                case .ends(let ending):
                    notes.append("fault \(ending.words)")
                    outcome.ending.add(ending.asked(by: name))
                }
            }
        } catch {
            notes.append("aborted: \(error.reason)")
            outcome.verdict = .abort(interceptor: name, reason: error.reason)
        }
        if done > 0, done == edits.count {
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
