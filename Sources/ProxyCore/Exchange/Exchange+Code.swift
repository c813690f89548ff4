import HTTPCodec
import Interception

/// External code that runs off the loop (`swift`): a phase waits for it and continues with its result.
extension Exchange {
    mutating func suspend(_ phase: SuspendedPhase, _ out: inout Outbox) {
        let limit = bounded(out.now + phase.suspension.call.deadline)
        stage.enter(.intercepting(phase), until: limit)
        out.orders.append(.intercept(id, phase.suspension.call))
        out.orders.append(.wake(at: limit))
    }

    /// Handles the result of the code. A late result finds another stage and is ignored.
    mutating func intercepted(
        _ answer: SwiftAnswer, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        guard case .intercepting(let phase) = stage.state else { return }
        stage.enter(.deciding)
        switch phase.message {
        case .request(var head):
            let outcome = resume(phase, answer, &head, out)
            requestJudged(head, outcome, &context, &out)
        case .response(let body):
            var head = response
            let made = resume(phase, answer, &head, out)
            response = head
            heldEdited(body, made, context, &out)
        case .preparation(let body):
            var head = response
            let made = resume(phase, answer, &head, at: .beforeStepUp, out)
            response = head
            resumedPreparation(body, made, &context, &out)
        }
    }

    private mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, _ head: inout RequestHead, _ out: borrowing Outbox
    ) -> Outcome {
        let made = phases.resume(
            phase, answer, engine.plan, on: &head, EditContext(request: self, at: out.seconds), &log, out.now)
        if case .replaced(let bytes) = made.body { attempt.body = bytes }
        return made.outcome
    }

    private mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, _ head: inout ResponseHead, at stage: ResponseStage = .delivery,
        _ out: borrowing Outbox
    ) -> BodyOutcome {
        phases.resume(
            phase, answer, engine.plan, on: &head, to: sentHead, at: stage,
            EditContext(response: self, at: out.seconds), &log,
            out.now)
    }

    /// The code exceeded its timeout.
    mutating func interceptorTimedOut(
        _ phase: SuspendedPhase, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        if let limit = filters?.limit, out.now >= limit {
            out.orders.append(.cancelIntercept(id))
            if filtersWoke(&context, &out) { return }
        }
        let call = phase.suspension.call
        let words = "\(call.words) came to nothing within \(call.deadline) ms"
        answer(ProxyError("proxy_internal_error", status: 504, words), &out)
    }
}
