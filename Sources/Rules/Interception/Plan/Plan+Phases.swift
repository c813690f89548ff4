internal import ContentCoding
public import HTTPCodec

/// Runs of the phases. The caller first asks whether a body is needed; if not, the head alone is enough.
extension Plan {
    /// Runs the request phase without a body.
    /// - Parameter index: the result of `firstRequestMatch`.
    public func applyRequest(from index: Int, to head: inout RequestHead, _ context: inout EditContext) -> Outcome {
        var run = PhaseRun(self, .request)
        run.request(from: index, &head, &context)
        return run.end(&head, context).outcome
    }

    /// Runs the request phase with a buffered body.
    public func applyRequest(
        from index: Int, to head: inout RequestHead, body arrival: EditedBody.Arrival, _ context: inout EditContext
    ) -> BodyOutcome {
        var run = PhaseRun(self, .request, SubjectBodies(request: arrivedBody(arrival, of: head, context)))
        run.request(from: index, &head, &context)
        return run.end(&head, context)
    }

    /// Continues the request phase after an interceptor that it waited for.
    /// - Parameters:
    ///   - outcome: the outcome so far.
    ///   - head: as the phase left it.
    public func resumeRequest(
        _ suspension: Suspension, _ answer: SwiftAnswer, after outcome: Outcome, to head: inout RequestHead,
        _ context: inout EditContext
    ) -> BodyOutcome {
        var run = PhaseRun(self, suspension, after: outcome)
        run.resumeRequest(Resumption(suspension: suspension, answer: answer), &head, &context)
        return run.end(&head, context)
    }

    /// Runs the response phase without a body.
    /// - Parameters:
    ///   - index: the result of `firstResponseMatch`.
    ///   - request: as it was sent.
    public func applyResponse(
        from index: Int, to response: inout ResponseHead, request: RequestHead, _ context: inout EditContext,
        at stage: ResponseStage = .delivery
    ) -> Outcome {
        var run = PhaseRun(self, stage.phase, SubjectBodies(request: sentBody(of: request, context)))
        run.response(from: index, &response, request: request, &context, at: stage)
        return run.end(&response, request: request, context, cameWithBody: false).outcome
    }

    /// Runs the response phase with a buffered body.
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

    /// Continues the response phase after an interceptor that it waited for.
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

    /// Runs the error phase: the rules in order, up to the first that responds or aborts.
    /// - Parameters:
    ///   - fault: the reason why there is no response.
    ///   - request: as it was sent.
    public func applyError(_ fault: OriginFault, _ request: RequestHead, _ context: inout EditContext) -> Outcome {
        var run = PhaseRun(self, .error, SubjectBodies(request: sentBody(of: request, context)))
        return run.error(fault, request, &context)
    }

    /// The request's body for rules that read it after it was sent; nil if there are none.
    func sentBody(of request: RequestHead, _ context: EditContext) -> EditedBody? {
        guard bodyNeeds.has(.requestReaders), let arrival = context.sentBody else { return nil }
        return arrivedBody(arrival, of: request, context)
    }

    func arrivedBody(_ arrival: EditedBody.Arrival, of head: RequestHead, _ context: EditContext) -> EditedBody {
        EditedBody(arrival, of: head, CodingLimits(size: context.bodyLimit))
    }
}
