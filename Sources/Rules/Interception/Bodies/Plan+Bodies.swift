public import HTTPCodec

/// Decides which bodies to buffer. `BodyNeeds` states in advance what rules may need; a trial run on copies shows whether such a
/// rule meets a message.
extension Plan {
    /// Whether to buffer the body of a received request. True if a rule that applies changes it. Also true if a rule that may apply
    /// in any phase reads it, may retry the request, or ends the exchange.
    /// - Parameter context: keeps the sampling decisions of the trial run, and nothing else.
    public func keepsRequestBody(_ head: RequestHead, _ context: inout EditContext) -> Bool {
        guard keepsRequestBodies else { return false }
        if mayRetry(head, context.classification) { return true }
        let classification = context.classification
        var head = head
        var trial = context.trial
        defer { context.decisions = trial.decisions }
        var outcome = Outcome()
        if let first = firstRequestMatch(head, classification) {
            if meetsBody(from: first, &head, &trial, &outcome) { return true }
        }
        // a request that gets its response here has no later phase, but its body is read so that the connection stays usable; a
        // client that waits for 100 (Continue) gets the response at once
        guard outcome.verdict == .proceed else { return !head.expectsContinue }
        if mayRetry(head, classification) { return true }
        let subject = Subject(request: head, response: nil, classification: classification, isEarly: true)
        return requestBodyReaders(classification?.action).contains {
            let rule = rules[$0.index]
            return rule.matcher.waitsForBody(subject, trial, readsBody: rule.needs.has(.sentBody))
        }
    }

    /// Whether a rule may retry such a request, so that its body must be kept.
    /// - Parameter head: as it would be sent, because edits may make a rule apply.
    private func mayRetry(_ head: borrowing RequestHead, _ classification: Classification?) -> Bool {
        guard bodyNeeds.has(.retry) else { return false }
        let traits = RequestGate.Traits(head)
        let action = classification?.action
        return retrying.contains { $0.demand.admits(action) && $0.gate.admits(traits) }
    }

    /// Whether the request phase needs the request's body.
    /// - Parameters:
    ///   - index: the result of `firstRequestMatch`.
    ///   - context: keeps the sampling decisions of the trial run, and nothing else.
    public func needsRequestBody(from index: Int, _ head: RequestHead, _ context: inout EditContext) -> Bool {
        guard readsRequestBodies else { return false }
        var head = head
        var trial = context.trial
        defer { context.decisions = trial.decisions }
        var outcome = Outcome()
        return meetsBody(from: index, &head, &trial, &outcome)
    }

    /// Runs the request phase up to the first rule that needs the body, because one rule's edits decide about the next.
    private func meetsBody(
        from index: Int, _ head: inout RequestHead, _ context: inout EditContext, _ outcome: inout Outcome
    ) -> Bool {
        var bodies = SubjectBodies()
        let places = requestPhase(context.classification?.action).map(\.index).filter { $0 >= index }
        for index in places where outcome.goesOn {
            let rule = rules[index]
            let subject = Subject(request: head, response: nil, classification: context.classification)
            switch rule.matcher.judge(subject, &bodies, context) {
            case .no: continue
            case .open: return true
            case .yes:
                guard takes(rule, &context) else { continue }
                let takesValues = rule.request.templates.requestBody
                if rule.request.needsBody(head.fields, takesValues: takesValues) { return true }
                // the code's changes are unknown, and so are the later rules that apply
                if rule.request.runsCode {
                    return places.contains { $0 > index && rules[$0].needs.has([.conditions, .requestEdits]) }
                }
                rule.edit(&head, &bodies, &context, &outcome)
            }
        }
        return false
    }

    /// Whether the response phase needs the response's body.
    /// - Parameters:
    ///   - index: the result of `firstResponseMatch`.
    ///   - request: as it was sent.
    ///   - context: keeps the sampling decisions of the trial run, and nothing else.
    public func needsResponseBody(
        from index: Int, _ response: ResponseHead, request: RequestHead, _ context: inout EditContext,
        at stage: ResponseStage = .delivery
    ) -> Bool {
        guard readsResponseBodies else { return false }
        var response = response
        var trial = context.trial
        defer { context.decisions = trial.decisions }
        var outcome = Outcome()
        var bodies = SubjectBodies(request: sentBody(of: request, context))
        let places = responsePhase.places(from: index, context.classification?.action, stage)
        for index in places where outcome.goesOn {
            let rule = rules[index]
            let subject = Subject(request: request, response: response, classification: context.classification)
            switch rule.matcher.judge(subject, &bodies, trial) {
            case .no: continue
            case .open: return true
            case .yes:
                guard takes(rule, &trial) else { continue }
                let takesValues = rule.response.templates.responseBody
                if rule.response.needsBody(response.fields, takesValues: takesValues) { return true }
                if rule.response.runsCode {
                    let next = responsePhase.place(behind: index)
                    return places.contains {
                        responsePhase.isReached($0, from: next) && rules[$0].needs.has([.conditions, .responseEdits])
                    }
                }
                rule.edit(&response, &bodies, request: request, &trial, &outcome)
            }
        }
        return false
    }
}
