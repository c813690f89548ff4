import HTTPCodec
import Interception

/// Runs the interceptor phases on the messages of one exchange and logs them.
struct InterceptorPhases {
    /// State that interceptors keep for the lifetime of the exchange.
    var state: ExchangeState?

    // MARK: the request

    /// Whether an interceptor that applies changes or reads the request's body, or may retry the request.
    mutating func keepsBody(of request: RequestHead, _ plan: Plan, _ context: EditContext) -> Bool {
        var context = context
        defer { state = context.state }
        return plan.keepsRequestBody(request, &context)
    }

    /// Runs the request phase on a request that is about to go out.
    /// - Parameter first: the interceptor to begin with.
    mutating func run(
        _ plan: Plan, from first: Int, on head: inout RequestHead, _ body: EditedBody.Arrival, _ context: EditContext,
        _ log: inout ExchangeLog, _ now: Int
    ) -> BodyOutcome {
        var context = context
        let made =
            plan.needsRequestBody(from: first, head, &context)
            ? plan.applyRequest(from: first, to: &head, body: body, &context)
            : BodyOutcome(outcome: plan.applyRequest(from: first, to: &head, &context))
        return ended(made, .request, context, &log, now)
    }

    /// Resumes the request phase after external code has finished.
    mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, _ plan: Plan, on head: inout RequestHead,
        _ context: EditContext,
        _ log: inout ExchangeLog, _ now: Int
    ) -> BodyOutcome {
        var context = context
        let made = plan.resumeRequest(phase.suspension, answer, after: phase.outcome, to: &head, &context)
        return ended(made, .request, context, &log, now)
    }

    // MARK: the response

    /// Whether an interceptor that applies changes or reads the response's body.
    mutating func readsBody(
        of response: ResponseHead, to request: RequestHead, _ plan: Plan, from first: Int,
        at stage: ResponseStage = .delivery, _ context: EditContext
    ) -> Bool {
        var context = context
        defer { state = context.state }
        return plan.needsResponseBody(from: first, response, request: request, &context, at: stage)
    }

    /// Runs the response phase on the head and the body, or on the head alone when no more is needed.
    mutating func run(
        _ plan: Plan, from first: Int, on head: inout ResponseHead, to request: RequestHead,
        _ body: EditedBody.Arrival, at stage: ResponseStage, _ context: EditContext, _ log: inout ExchangeLog,
        _ now: Int
    ) -> BodyOutcome {
        if case .whole(let bytes) = body {
            log.capture.keepAnswer(head, bytes)
        } else {
            log.capture.keepAnswer(head, nil)
        }
        var context = context
        let made =
            plan.needsResponseBody(from: first, head, request: request, &context, at: stage)
            ? plan.applyResponse(from: first, to: &head, body: body, request: request, &context, at: stage)
            : BodyOutcome(outcome: plan.applyResponse(from: first, to: &head, request: request, &context, at: stage))
        return ended(made, stage.phase, context, &log, now)
    }

    /// Resumes the response phase after external code has finished.
    mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, _ plan: Plan, on head: inout ResponseHead,
        to request: RequestHead,
        at stage: ResponseStage, _ context: EditContext, _ log: inout ExchangeLog, _ now: Int
    ) -> BodyOutcome {
        var context = context
        let made = plan.resumeResponse(
            phase.suspension, answer, after: phase.outcome, to: &head, request: request, &context, at: stage)
        return ended(made, stage.phase, context, &log, now)
    }

    // MARK: no response

    /// Runs the error phase.
    mutating func run(
        _ plan: Plan, on fault: OriginFault, to request: RequestHead, _ context: EditContext, _ log: inout ExchangeLog,
        _ now: Int
    ) -> Outcome {
        var context = context
        let outcome = plan.applyError(fault, request, &context)
        return ended(BodyOutcome(outcome: outcome), .error, context, &log, now).outcome
    }

    private mutating func ended(
        _ made: BodyOutcome, _ phase: PhaseJudgement.Phase, _ context: EditContext, _ log: inout ExchangeLog, _ now: Int
    ) -> BodyOutcome {
        state = context.state
        log.tell(of: made.outcome, phase, now)
        return made
    }
}
