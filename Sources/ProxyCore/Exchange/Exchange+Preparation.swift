import Authorization
import HTTPCodec
import Interception

/// Runs interceptors on a response before the step-up looks for an advice in it (`before: step_up`).
extension Exchange {
    /// Handles the head of the response.
    /// - Returns: false when the body is needed too, or when something else replaces the response.
    mutating func isPrepared(_ context: ClientContext, _ out: inout Outbox) -> Bool {
        let plan = engine.plan
        guard plan.preparesResponses, terms.isGuarded else { return true }
        let sent = sentHead
        guard let first = plan.firstResponseMatch(response, request: sent, classification, at: .beforeStepUp) else {
            return true
        }
        let needsBody = phases.readsBody(
            of: response, to: sent, plan, from: first, at: .beforeStepUp, EditContext(response: self, at: out.seconds))
        let limit = engine.settings.limits.keptBody
        guard needsBody, hasRoomFor(limit) else { return isPrepared(.overLimit, context, &out) }
        let held = HeldResponse(reason: .preparation, head: response, limit: limit)
        stage.enter(.holding(held), until: bounded(out.now + engine.settings.timeouts.idle))
        return false
    }

    /// Handles a response whose body is not here whole.
    mutating func isPrepared(_ body: EditedBody.Arrival, _ context: ClientContext, _ out: inout Outbox) -> Bool {
        editResponse(body, at: .beforeStepUp, context, &out) != nil
    }

    /// Handles a response that is held whole.
    mutating func prepare(_ held: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        guard let made = editResponse(.whole(held.body), at: .beforeStepUp, context, &out) else { return }
        prepared(held.body, made, &context, &out)
    }

    /// Continues after external code has finished its edits.
    mutating func resumedPreparation(
        _ body: [UInt8], _ made: BodyOutcome, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        if case .suspend(let suspension) = made.outcome.verdict {
            return suspend(SuspendedPhase(.preparation(body), suspension, made.outcome), &out)
        }
        guard let made = judged(made, context, &out) else { return }
        prepared(body, made, &context, &out)
    }

    /// Continues as if the origin had sent the edited response.
    private mutating func prepared(
        _ body: [UInt8], _ made: BodyOutcome, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        let bytes = made.body.bytes(insteadOf: body)
        var held = HeldResponse(reason: .advice, head: response, body: bytes, limit: bytes.count)
        classification?.learnFlow(from: held, into: context.stores.flows)
        guard let limit = filtersHold(context, out) else {
            return deliverHeld(held, context, &out)
        }
        held.limit = limit
        guard bytes.count <= limit else {
            log.tell(.unread("the answer is too large to be looked through"), out.now)
            answerUnheld(context, out)
            return deliverHeld(held, context, &out)
        }
        considerHeld(held, &context, &out)
    }
}
