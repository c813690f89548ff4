internal import ContentCoding
public import HTTPCodec

/// The phases. Whoever runs one asks first whether a body is needed: where it is not, none is kept, and the head alone is
/// enough for all there is to do.
extension Plan {
    /// Runs the request phase.
    /// - Parameter index: what `firstRequestMatch` answered.
    public func applyRequest(from index: Int, to head: inout RequestHead, _ context: inout EditContext) -> Outcome {
        var run = PhaseRun(self, .request)
        run.request(from: index, &head, &context)
        return run.end(&head, context).outcome
    }

    /// The same for a request whose body is here.
    public func applyRequest(
        from index: Int, to head: inout RequestHead, body arrival: EditedBody.Arrival, _ context: inout EditContext
    ) -> BodyOutcome {
        var run = PhaseRun(self, .request, SubjectBodies(request: arrivedBody(arrival, of: head, context)))
        run.request(from: index, &head, &context)
        return run.end(&head, context)
    }

    /// Goes on with the request phase, behind an interceptor that it has waited for.
    /// - Parameters:
    ///   - outcome: what it has come to so far.
    ///   - head: as the phase left it.
    public func resumeRequest(
        _ suspension: Suspension, _ answer: SwiftAnswer, after outcome: Outcome, to head: inout RequestHead,
        _ context: inout EditContext
    ) -> BodyOutcome {
        var run = PhaseRun(self, suspension, after: outcome)
        run.resumeRequest(Resumption(suspension: suspension, answer: answer), &head, &context)
        return run.end(&head, context)
    }

    /// Runs the response phase.
    /// - Parameters:
    ///   - index: what `firstResponseMatch` answered.
    ///   - request: as it was sent.
    public func applyResponse(
        from index: Int, to response: inout ResponseHead, request: RequestHead, _ context: inout EditContext,
        at stage: ResponseStage = .delivery
    ) -> Outcome {
        var run = PhaseRun(self, stage.phase, SubjectBodies(request: sentBody(of: request, context)))
        run.response(from: index, &response, request: request, &context, at: stage)
        return run.end(&response, request: request, context, cameWithBody: false).outcome
    }

    /// The same for a response whose body is here.
    public func applyResponse(
        from index: Int, to response: inout ResponseHead, body arrival: EditedBody.Arrival, request: RequestHead,
        _ context: inout EditContext, at stage: ResponseStage = .delivery
    ) -> BodyOutcome {
        var arrival = arrival
        if case .whole(let bytes) = arrival, response.status == 206 { arrival = .part(bytes) }
        let cameWithBody = response.mayHaveBody(answering: request.method)
        let body = EditedBody(arrival, response.fields, CodingLimits(size: context.bodyLimit))
        var run = PhaseRun(
            self, stage.phase, SubjectBodies(request: sentBody(of: request, context), response: body))
        run.response(from: index, &response, request: request, &context, at: stage)
        return run.end(&response, request: request, context, cameWithBody: cameWithBody)
    }

    /// Goes on with the response phase, likewise.
    /// - Parameter request: as it was sent.
    public func resumeResponse(
        _ suspension: Suspension, _ answer: SwiftAnswer, after outcome: Outcome, to response: inout ResponseHead,
        request: RequestHead, _ context: inout EditContext, at stage: ResponseStage = .delivery
    ) -> BodyOutcome {
        var run = PhaseRun(self, suspension, after: outcome)
        let resumption = Resumption(suspension: suspension, answer: answer)
        run.resumeResponse(resumption, &response, request: request, &context, at: stage)
        return run.end(&response, request: request, context, cameWithBody: suspension.cameWithBody)
    }

    /// Runs the error phase: rules in order, up to the first that answers or aborts.
    /// - Parameters:
    ///   - fault: why there is no answer.
    ///   - request: as it was sent.
    public func applyError(_ fault: OriginFault, _ request: RequestHead, _ context: inout EditContext) -> Outcome {
        var run = PhaseRun(self, .error, SubjectBodies(request: sentBody(of: request, context)))
        return run.error(fault, request, &context)
    }

    /// The request's body for rules that ask for it after it was sent; nil where there are none.
    func sentBody(of request: RequestHead, _ context: EditContext) -> EditedBody? {
        guard bodyNeeds.has(.requestReaders), let arrival = context.sentBody else { return nil }
        return arrivedBody(arrival, of: request, context)
    }

    func arrivedBody(_ arrival: EditedBody.Arrival, of head: RequestHead, _ context: EditContext) -> EditedBody {
        EditedBody(arrival, of: head, CodingLimits(size: context.bodyLimit))
    }
}
