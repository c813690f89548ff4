public import HTTPCodec

/// A phase that has waited for an interceptor goes on, behind it.
extension Plan {
    /// Goes on with the request phase.
    /// - Parameters:
    ///   - outcome: what it has come to so far.
    ///   - head: as the phase left it.
    public func resumeRequest(
        _ suspension: Suspension, _ answer: SwiftAnswer, after outcome: Outcome, to head: inout RequestHead,
        _ context: inout EditContext
    ) -> BodyOutcome {
        var outcome = outcome
        outcome.verdict = .proceed
        var bodies = suspension.bodies
        let resumption = Resumption(suspension: suspension, answer: answer)
        rules[suspension.rule].edit(&head, &bodies, &context, &outcome, after: resumption)
        runRequest(from: suspension.rule + 1, to: &head, &bodies, &context, &outcome)
        return endRequest(&head, bodies, context, outcome)
    }

    /// Goes on with the response phase.
    /// - Parameters:
    ///   - outcome: what it has come to so far.
    ///   - response: as the phase left it.
    ///   - request: as it was sent.
    public func resumeResponse(
        _ suspension: Suspension, _ answer: SwiftAnswer, after outcome: Outcome, to response: inout ResponseHead,
        request: RequestHead, _ context: inout EditContext, at stage: ResponseStage = .delivery
    ) -> BodyOutcome {
        var outcome = outcome
        outcome.verdict = .proceed
        var bodies = suspension.bodies
        let resumption = Resumption(suspension: suspension, answer: answer)
        rules[suspension.rule].edit(
            &response, &bodies, request: request, &context, &outcome, after: resumption)
        runResponse(
            from: responsePlace(behind: suspension.rule), to: &response, &bodies, request: request, &context, &outcome,
            at: stage)
        return endResponse(
            &response, bodies, request: request, context, outcome, cameWithBody: suspension.cameWithBody)
    }
}
