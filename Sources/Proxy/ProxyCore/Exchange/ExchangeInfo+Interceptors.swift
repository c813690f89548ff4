import HTTPCodec
import Interception

/// Runs the interceptors on the messages of an exchange, and logs what they did.
extension ExchangeInfo {
    // MARK: the request

    /// Whether an interceptor that applies changes or reads the request's body, or may retry the request.
    mutating func keepsBody(_ seconds: Int) -> Bool {
        guard received.body.framing != .none, engine.plan.keepsRequestBodies else { return false }
        var context = editContext(seconds)
        defer { state = context.state }
        return engine.plan.keepsRequestBody(received.head, &context)
    }

    /// Runs the request phase on a request that is about to go out.
    mutating func intercept(_ head: inout RequestHead, _ body: inout [UInt8]?, _ out: borrowing CommandBuffer)
        -> Outcome
    {
        let plan = engine.plan
        guard let first = plan.firstRequestMatch(head, classification) else { return Outcome() }
        var context = editContext(out.seconds)
        let made =
            plan.needsRequestBody(from: first, head, &context)
            ? plan.applyRequest(from: first, to: &head, body: received.body.arrived(body), &context)
            : BodyOutcome(outcome: plan.applyRequest(from: first, to: &head, &context))
        return ended(made, .request, context, replacing: &body, out.now)
    }

    /// Resumes the request phase after external code has finished.
    mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, _ head: inout RequestHead, _ body: inout [UInt8]?,
        _ out: borrowing CommandBuffer
    ) -> Outcome {
        var context = editContext(out.seconds)
        let made = engine.plan.resumeRequest(phase.suspension, answer, after: phase.outcome, to: &head, &context)
        return ended(made, .request, context, replacing: &body, out.now)
    }

    private mutating func ended(
        _ made: BodyOutcome, _ phase: PhaseJudgement.Phase, _ context: EditContext, replacing body: inout [UInt8]?,
        _ now: Int
    ) -> Outcome {
        if case .replaced(let bytes) = made.body { body = bytes }
        return ended(made, phase, context, now).outcome
    }

    // MARK: the response

    /// Whether an interceptor that applies changes or reads the response's body.
    mutating func readsBody(
        of response: ResponseHead, to attempt: borrowing Attempt, from first: Int, at stage: ResponseStage,
        _ seconds: Int
    ) -> Bool {
        var context = editContext(answering: attempt, seconds)
        defer { state = context.state }
        return engine.plan.needsResponseBody(
            from: first, response, request: attempt.sent(received.head), &context, at: stage)
    }

    /// Runs the response phase on the head and the body, or on the head alone when no more is needed.
    mutating func intercept(
        _ head: inout ResponseHead, _ body: EditedBody.Arrival, to attempt: borrowing Attempt, at stage: ResponseStage,
        _ out: borrowing CommandBuffer
    ) -> BodyOutcome {
        let plan = engine.plan
        let sent = attempt.sent(received.head)
        guard let first = plan.firstResponseMatch(head, request: sent, classification, at: stage) else {
            return BodyOutcome()
        }
        if case .whole(let bytes) = body {
            log.capture.keepAnswer(head, bytes)
        } else {
            log.capture.keepAnswer(head, nil)
        }
        var context = editContext(answering: attempt, out.seconds)
        let made =
            plan.needsResponseBody(from: first, head, request: sent, &context, at: stage)
            ? plan.applyResponse(from: first, to: &head, body: body, request: sent, &context, at: stage)
            : BodyOutcome(outcome: plan.applyResponse(from: first, to: &head, request: sent, &context, at: stage))
        return ended(made, stage.phase, context, out.now)
    }

    /// Resumes the response phase after external code has finished.
    mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, _ head: inout ResponseHead, to attempt: borrowing Attempt,
        at stage: ResponseStage, _ out: borrowing CommandBuffer
    ) -> BodyOutcome {
        var context = editContext(answering: attempt, out.seconds)
        let made = engine.plan.resumeResponse(
            phase.suspension, answer, after: phase.outcome, to: &head, request: attempt.sent(received.head), &context,
            at: stage)
        return ended(made, stage.phase, context, out.now)
    }

    // MARK: no response

    /// Runs the error phase.
    mutating func intercept(_ fault: OriginFault, to attempt: borrowing Attempt, _ out: borrowing CommandBuffer)
        -> Outcome
    {
        var context = editContext(failing: attempt, out.seconds)
        let outcome = engine.plan.applyError(fault, attempt.sent(received.head), &context)
        return ended(BodyOutcome(outcome: outcome), .error, context, out.now).outcome
    }

    private mutating func ended(
        _ made: BodyOutcome, _ phase: PhaseJudgement.Phase, _ context: EditContext, _ now: Int
    ) -> BodyOutcome {
        state = context.state
        log.tell(of: made.outcome, phase, now)
        return made
    }

    // MARK: the view of an exchange that interceptors get

    /// - Parameter seconds: since 1970.
    func editContext(_ seconds: Int) -> EditContext {
        EditContext(
            classification, state: state, time: seconds, bodyLimit: engine.settings.limits.keptBody,
            chance: engine.chance, issuer: call?.issuer)
    }

    /// The view in the error phase, when no response came.
    private func editContext(failing attempt: borrowing Attempt, _ seconds: Int) -> EditContext {
        var context = editContext(seconds)
        context.sentBody = received.body.arrived(attempt.body)
        return context
    }

    private func editContext(answering attempt: borrowing Attempt, _ seconds: Int) -> EditContext {
        var context = editContext(failing: attempt, seconds)
        if engine.plan.runsResponseCode { context.basis = attempt.start(received.head, engine) }
        return context
    }
}
