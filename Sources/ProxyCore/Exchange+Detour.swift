import Authorization
import HTTPCodec
import Interception

/// Detours and the exchange that they hold up; and the calls that they make.
extension Exchange {
    private func detourContext(_ context: ClientContext, _ now: Int) -> DetourContext {
        DetourContext(
            request: request, sent: attempt.head ?? request, body: body.bytes, isWhole: body.isKept,
            mayHaveArrived: awaitsResponse, now: now, logins: context.stores.logins)
    }

    /// A response that was held for the detour's sake is here whole.
    mutating func considerHeld(_ held: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        guard let detour else { return deliverHeld(held, context, &out) }
        var notes: [ExchangeMoment] = []
        // whether the request arrived matters for what fails, and this has not
        let order = detour.consider(held, detourContext(context, out.now), &notes)
        for moment in notes { tell(moment, out.now) }
        perform(order, &context, &out)
    }

    /// The call that the detour made has come to something.
    mutating func called(_ response: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .calling = stage, let detour else { return }
        var notes: [ExchangeMoment] = []
        let order = detour.called(response, detourContext(context, out.now), &notes)
        for moment in notes { tell(moment, out.now) }
        perform(order, &context, &out)
    }

    /// The call that the detour made came to nothing.
    mutating func callFailed(_ reason: String, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .calling = stage else { return }
        if !detourFailed(reason, &context, &out) { cut(reset: true, &out) }
    }

    /// What the detour is about came to nothing.
    /// - Returns: false where there is no detour that could do anything about it.
    mutating func detourFailed(_ reason: String, _ context: inout ClientContext, _ out: inout Outbox) -> Bool {
        guard let detour, detour.keepsResponse else { return false }
        var notes: [ExchangeMoment] = []
        let order = detour.failed(reason, detourContext(context, out.now), &notes)
        for moment in notes { tell(moment, out.now) }
        guard let order else { return false }
        perform(order, &context, &out)
        return true
    }

    /// Time has passed in a detour. False when the ordinary timeouts apply.
    mutating func detourWoke(_ context: inout ClientContext, _ out: inout Outbox) -> Bool {
        guard let detour, detour.keepsResponse else { return false }
        var notes: [ExchangeMoment] = []
        let order = detour.woke(detourContext(context, out.now), &notes)
        for moment in notes { tell(moment, out.now) }
        guard let order else { return false }
        perform(order, &context, &out)
        return true
    }

    private mutating func perform(
        _ order: DetourOrder, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        switch order {
        case .deliver(let held): deliverHeld(held, context, &out)
        case .giveBack(let original):
            release(reusable: false, &out)
            attempt.forget()
            attempt.isBinding = false
            deliverHeld(original, context, &out)
        case .call(let call):
            let limit = detour?.limit ?? .max
            enter(.calling(until: limit), until: limit)
            out.replies.append(.call(call))
        case .wait(let time): enter(.waiting(.detour), until: time)
        case .attempt(let head, let bytes):
            release(reusable: false, &out)
            tell(.replayed(method: head.methodText, url: engine.redaction.url(of: head)), out.now)
            attempt.basis = (head, bytes)
            attempt.renew()
            send(&context, &out)
        }
    }

    // MARK: a call

    /// Makes the call that this exchange is. It goes through the interceptors with an Action of its own, but never through a
    /// detour.
    mutating func beginCall(_ context: inout ClientContext, _ out: inout Outbox) {
        guard let detour = call else { return }
        let call = detour.call
        var head = call.head
        // the classifier, and rules, look at the head alone to see whether there is a body
        head.fields.set("Content-Length", String(call.body.count))
        switch engine.classifier.begin(head) {
        case .none: classification = nil
        case .done(let found): classification = found
        case .needsBody(let endpoint):
            classification = engine.classifier.finish(
                head, endpoint, body: call.body, complete: true, flows: context.stores.flows)
        }
        // the machine knows better than an authId that may tell nothing
        classification.change { $0.payload = call.payload }
        tell(.call(call.action, number: call.number, url: engine.redaction.url(of: head)), out.now)
        body.bytes = call.body
        body.isKept = true
        body.hasEnded = true
        let outcome = intercept(&head, out)
        switch outcome.verdict {
        case .proceed: break
        case .respond(let local, _): return comeTo(HeldResponse(local), after: outcome.wait(), context, &out)
        case .abort(let interceptor, let reason):
            return end(.notCalled("interceptor \(interceptor) aborted the call to AM: \(reason)"), out.now)
        case .breaks(let breakage, let interceptor):
            return end(.notCalled("interceptor \(interceptor) broke the call to AM: \(breakage.rawValue)"), out.now)
        }
        attempt.ending = outcome.ending
        // the session is in this request: it goes to the configured server and nowhere else
        if let refusal = detour.server.refusal(of: head) { return end(.notCalled(refusal), out.now) }
        if call.carriesAnswers { detour.login?.tell() }
        request = head
        attempt.head = head
        leaseForSending(after: outcome.wait(), &context, &out)
    }

    /// The answer to the call that this exchange is.
    mutating func finishCall(_ answer: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        var answer = answer
        let made = intercept(&answer.head, .whole(answer.body), out)
        switch made.outcome.verdict {
        case .proceed: answer.body = made.body.bytes(insteadOf: answer.body)
        case .respond(let local, _): answer = HeldResponse(local)
        case .abort(let interceptor, let reason):
            return end(.notCalled("interceptor \(interceptor) aborted AM's answer: \(reason)"), out.now)
        case .breaks(let breakage, let interceptor):
            return end(.notCalled("interceptor \(interceptor) broke AM's answer: \(breakage.rawValue)"), out.now)
        }
        var ending = attempt.ending
        ending.add(made.outcome.ending)
        if let cut = ending.cut, cut.bytes < answer.body.count {
            return end(.notCalled("interceptors had AM's answer break off after \(cut.bytes) bytes"), out.now)
        }
        comeTo(answer, after: made.outcome.wait() + ending.hold(), context, &out)
    }

    /// The call has come to this.
    private mutating func comeTo(
        _ answer: HeldResponse, after wait: Int, _ context: ClientContext, _ out: inout Outbox
    ) {
        learnFlow(answer.body, context)
        if wait > 0 { return pause(.called(answer), for: wait, &out) }
        end(.called(answer), out.now)
    }
}
