import Authorization
import HTTPCodec
import Interception

/// What interceptors make of an answer before a step-up looks for an advice in it (`before: step_up`).
extension Exchange {
    /// The head of the answer is here.
    /// - Returns: false where the body has to be here as well, and where something else is done in the answer's place.
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
        enter(.holding(held), until: bounded(out.now + engine.settings.timeouts.idle))
        return false
    }

    /// The same for an answer that is not here whole.
    mutating func isPrepared(_ body: EditedBody.Arrival, _ context: ClientContext, _ out: inout Outbox) -> Bool {
        editResponse(body, at: .beforeStepUp, context, &out) != nil
    }

    /// The answer is here whole.
    mutating func prepare(_ held: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        guard let made = editResponse(.whole(held.body), at: .beforeStepUp, context, &out) else { return }
        prepared(held.body, made, &context, &out)
    }

    /// The edits that had to wait for code of others are made.
    mutating func resumedPreparation(
        _ body: [UInt8], _ made: BodyOutcome, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        if case .suspend(let suspension) = made.outcome.verdict {
            return suspend(.preparation(body), suspension, made.outcome, &out)
        }
        guard let made = judged(made, context, &out) else { return }
        prepared(body, made, &context, &out)
    }

    /// From here on it is as if the origin had answered so.
    private mutating func prepared(
        _ body: [UInt8], _ made: BodyOutcome, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        let bytes = made.body.bytes(insteadOf: body)
        var held = HeldResponse(reason: .advice, head: response, body: bytes, limit: bytes.count)
        learnFlow(held, context)
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
