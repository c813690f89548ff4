public import HTTPCodec

/// Which bodies are needed. What rules need at all is known beforehand (`BodyNeeds`); whether one of them meets a message is seen
/// on copies.
extension Plan {
    /// Whether the body of a request that has come is to be kept: a rule that applies changes it, or one that may apply, in
    /// whichever phase, asks what is in it, fills something in from there, may have it sent again, or ends the exchange here.
    /// - Parameter context: keeps what this decides of rules, and nothing else.
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
        // what is answered here has no other phase, but what comes of its body is read, so that the client's connection goes
        // on; a client that waits to be asked for it is told at once
        guard outcome.verdict == .proceed else { return !head.expectsContinue }
        if mayRetry(head, classification) { return true }
        let subject = Subject(request: head, response: nil, classification: classification, isEarly: true)
        return requestBodyReaders(classification?.action).contains {
            let rule = rules[$0.index]
            return rule.matcher.waitsForBody(subject, trial, readsBody: rule.needs.has(.sentBody))
        }
    }

    /// Whether a rule may ask to have such a request sent again, as far as the request tells: its body has to be kept then.
    /// - Parameter head: as it would be sent; what edits make of it may be what the rule asks for.
    private func mayRetry(_ head: borrowing RequestHead, _ classification: Classification?) -> Bool {
        guard bodyNeeds.has(.retry) else { return false }
        let traits = RequestGate.Traits(head)
        let action = classification?.action
        return retrying.contains { $0.demand.admits(action) && $0.gate.admits(traits) }
    }

    /// Whether the request phase needs the request's body.
    /// - Parameters:
    ///   - index: what `firstRequestMatch` answered.
    ///   - context: keeps what this decides of rules, and nothing else.
    public func needsRequestBody(from index: Int, _ head: RequestHead, _ context: inout EditContext) -> Bool {
        guard readsRequestBodies else { return false }
        var head = head
        var trial = context.trial
        defer { context.decisions = trial.decisions }
        var outcome = Outcome()
        return meetsBody(from: index, &head, &trial, &outcome)
    }

    /// Runs the rules of the request phase, for what one of them changes decides on the next, up to the first that needs the
    /// body.
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
                // nobody knows what it would make of the request, and so which of those behind it apply
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
    ///   - index: what `firstResponseMatch` answered.
    ///   - request: as it was sent.
    ///   - context: keeps what this decides of rules, and nothing else.
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
