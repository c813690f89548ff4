internal import ContentCoding
public import HTTPCodec

/// What a phase did to a message and its body.
public struct BodyOutcome: Sendable {
    public enum Body: Equatable, Sendable {
        /// What came goes on, in the framing in which it came.
        case asItCame
        /// These go on in its place, with their length; nothing of what came does.
        case replaced([UInt8])
        /// The message has no body. A Content-Length in its head is that of the answer to another request and stays.
        case none

        /// What goes on.
        public func bytes(insteadOf received: [UInt8]) -> [UInt8] {
            switch self {
            case .asItCame: received
            case .replaced(let bytes): bytes
            case .none: []
            }
        }
    }

    public var outcome: Outcome
    public var body: Body

    public init(outcome: Outcome = Outcome(), body: Body = .asItCame) {
        self.outcome = outcome
        self.body = body
    }
}

/// Bodies that are edited or asked for. Whoever runs a phase asks first whether a body is needed: where it is not, none is
/// kept, and `applyRequest` and `applyResponse` do all there is to do.
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
        return requestBodyReaders(classification).contains { rules[$0].waitsForBody(subject, trial) }
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
        for index in requestCandidates(from: index, context.classification) where outcome.goesOn {
            let rule = rules[index]
            let subject = Subject(request: head, response: nil, classification: context.classification)
            switch rule.judge(subject, &bodies, context) {
            case .no: continue
            case .open: return true
            case .yes:
                guard takes(rule, &context) else { continue }
                if rule.requestTemplates.requestBody, TemplateNeeds.mayRead(head.fields) { return true }
                if rule.request.contains(where: { Self.isForBody($0, head.fields) }) { return true }
                // nobody knows what it would make of the request, and so which of those behind it apply
                if rule.runsRequestCode {
                    return requestCandidates(from: index + 1, context.classification).contains {
                        rules[$0].mayReadRequestBody
                    }
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
        for index in responseCandidates(from: index, context.classification, stage) where outcome.goesOn {
            let rule = rules[index]
            let subject = Subject(request: request, response: response, classification: context.classification)
            switch rule.judge(subject, &bodies, trial) {
            case .no: continue
            case .open: return true
            case .yes:
                guard takes(rule, &trial) else { continue }
                if rule.responseTemplates.responseBody, TemplateNeeds.mayRead(response.fields) { return true }
                if rule.response.contains(where: { Self.isForBody($0, response.fields) }) { return true }
                if rule.runsResponseCode {
                    let behind = responseCandidates(from: responsePlace(behind: index), context.classification, stage)
                    return behind.contains { rules[$0].mayReadResponseBody }
                }
                rule.edit(&response, &bodies, request: request, &trial, &outcome)
            }
        }
        return false
    }

    /// The request's body for rules that ask for it after it was sent; nil where there are none.
    func sentBody(of request: RequestHead, _ context: EditContext) -> EditedBody? {
        guard asksRequestBodies, let arrival = context.sentBody else { return nil }
        return EditedBody(arrival, of: request, CodingLimits(size: context.bodyLimit))
    }

    private static func isForBody(_ edit: any Edit, _ fields: FieldTable) -> Bool {
        guard let edit = edit as? any BodyEdit else { return edit.readsBody }
        return edit.concerns(fields["Content-Type"].flatMap { MediaType($0) })
    }

    // MARK: the phases

    /// Runs the request phase on a request whose body is here.
    /// - Parameter index: what `firstRequestMatch` answered.
    public func applyRequest(
        from index: Int, to head: inout RequestHead, body arrival: EditedBody.Arrival, _ context: inout EditContext
    ) -> BodyOutcome {
        var bodies = SubjectBodies(
            request: EditedBody(arrival, of: head, CodingLimits(size: context.bodyLimit)))
        var outcome = begin(.request)
        runRequest(from: index, to: &head, &bodies, &context, &outcome)
        return endRequest(&head, bodies, context, outcome)
    }

    /// What the request phase came to; where it waits, what it has of the body waits with it.
    func endRequest(
        _ head: inout RequestHead, _ bodies: SubjectBodies, _ context: EditContext, _ outcome: Outcome
    ) -> BodyOutcome {
        var outcome = outcome
        if case .suspend = outcome.verdict {
            outcome.keep(bodies)
            return BodyOutcome(outcome: outcome)
        }
        if explains {
            finish(&outcome, Subject(request: head, response: nil, classification: context.classification), bodies)
        }
        guard var body = bodies.request, body.isChanged else {
            return BodyOutcome(outcome: outcome, body: .asItCame)
        }
        return BodyOutcome(outcome: outcome, body: .replaced(body.settle(&head.fields)))
    }

    /// Runs the response phase on a response whose body is here.
    /// - Parameters:
    ///   - index: what `firstResponseMatch` answered.
    ///   - request: as it was sent.
    public func applyResponse(
        from index: Int, to response: inout ResponseHead, body arrival: EditedBody.Arrival, request: RequestHead,
        _ context: inout EditContext, at stage: ResponseStage = .delivery
    ) -> BodyOutcome {
        var arrival = arrival
        if case .whole(let bytes) = arrival, response.status == 206 { arrival = .part(bytes) }
        let cameWithBody = response.mayHaveBody(answering: request.method)
        var bodies = SubjectBodies(
            request: sentBody(of: request, context),
            response: EditedBody(arrival, response.fields, CodingLimits(size: context.bodyLimit)))
        var outcome = begin(stage.phase)
        runResponse(from: index, to: &response, &bodies, request: request, &context, &outcome, at: stage)
        return endResponse(&response, bodies, request: request, context, outcome, cameWithBody: cameWithBody)
    }

    /// What the response phase came to; where it waits, what it has of the body waits with it.
    /// - Parameter cameWithBody: the response had a body when it came.
    func endResponse(
        _ response: inout ResponseHead, _ bodies: SubjectBodies, request: RequestHead, _ context: EditContext,
        _ outcome: Outcome, cameWithBody: Bool
    ) -> BodyOutcome {
        var outcome = outcome
        if case .suspend = outcome.verdict {
            outcome.keep(bodies, cameWithBody: cameWithBody)
            return BodyOutcome(outcome: outcome)
        }
        if explains {
            finish(
                &outcome,
                Subject(request: request, response: response, classification: context.classification), bodies)
        }
        guard var body = bodies.response else { return BodyOutcome(outcome: outcome, body: .asItCame) }
        guard response.mayHaveBody(answering: request.method) else {
            // what a body would be like that is not sent is known of the one that came alone (RFC 9110 §8.6)
            if body.isAsked || cameWithBody { EditedBody.forget(&response.fields) }
            return BodyOutcome(outcome: outcome, body: .none)
        }
        guard body.isChanged else { return BodyOutcome(outcome: outcome, body: .asItCame) }
        return BodyOutcome(outcome: outcome, body: .replaced(body.settle(&response.fields)))
    }
}

extension ResponseHead {
    /// RFC 9112 §6.3.
    fileprivate func mayHaveBody(answering method: Method) -> Bool {
        method != .head && status >= 200 && status != 204 && status != 304
    }
}
