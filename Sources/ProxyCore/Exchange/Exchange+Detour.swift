import Authorization
import HTTPCodec
import Interception

/// Detours and the exchange that they hold up; and the calls that they make.
extension Exchange {
    private func detourContext(_ context: ClientContext, _ now: CookieSessions.Now) -> DetourContext {
        DetourContext(
            request: request, sent: attempt.head ?? request, body: body.bytes,
            sentBody: body.isKept ? attempt.body ?? body.bytes : nil,
            mayHaveArrived: awaitsResponse, time: now,
            logins: context.stores.logins, cookies: context.stores.cookies, state: context.stores.state,
            person: PersonContext(
                transactions: context.stores.transactions, address: context.source.address, user: record.user,
                url: record.url),
            tokens: TokenContext(
                store: context.stores.tokens, sender: sender(context), errands: context.stores.errands,
                classification: watched),
            pushes: context.stores.pushes, sessions: context.stores.sessions, decisions: context.stores.decisions,
            grounds: CredentialGrounds(unproven: unproven(context), request: request))
    }

    func sender(_ context: ClientContext) -> RequestSender {
        RequestSender(address: context.source.address, user: record.user)
    }

    /// A tunnel may lead anywhere, and its name be the client's word alone, where nothing that is shown there is looked at.
    private func unproven(_ context: ClientContext) -> String? {
        guard let tunnel = context.tunnel, let name = tunnel.serverName, tunnel.matches(attempt.head ?? request),
            !engine.settings.interception.security.demands(of: tunnel).provesName
        else { return nil }
        return
            "the request goes where the client's tunnel leads, and nothing proves that this is \(name), so it goes out without"
    }

    /// What has to be done before the request goes out is done; else it has begun.
    mutating func isReady(_ context: inout ClientContext, _ out: inout Outbox) -> Bool {
        guard let detour else { return true }
        var notes: [ExchangeMoment] = []
        var head = attempt.head ?? request
        let surroundings = detourContext(context, out.time)
        let order = detour.prepare(surroundings, &notes)
        if order == nil {
            attempt.plain = head
            detour.edit(&head, surroundings, &notes)
        }
        for moment in notes { tell(moment, out.now) }
        if let order {
            perform(order, &context, &out)
            return false
        }
        attempt.head = head
        return true
    }

    /// The head of an answer is here.
    mutating func answerSeen(_ context: ClientContext, _ out: borrowing Outbox) {
        guard let detour else { return }
        let surroundings = detourContext(context, out.time)
        detour.answered(&response, surroundings)
    }

    /// A response that was held for the detour's sake cannot be.
    mutating func answerUnheld(_ context: ClientContext, _ out: borrowing Outbox) {
        guard let detour else { return }
        var notes: [ExchangeMoment] = []
        detour.unheld(response, detourContext(context, out.time), &notes)
        for moment in notes { tell(moment, out.now) }
    }

    /// A response that was held for the detour's sake is here whole.
    mutating func considerHeld(_ held: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        guard let detour else { return deliverHeld(held, context, &out) }
        var notes: [ExchangeMoment] = []
        // whether the request arrived matters for what fails, and this has not
        let order = detour.consider(held, detourContext(context, out.time), &notes)
        for moment in notes { tell(moment, out.now) }
        if !order.delivers { captureAttempt(capture.answer ?? held.head, capture.answerBody ?? held.body, &out) }
        perform(order, &context, &out)
    }

    /// The call that the detour made has come to something.
    mutating func called(_ response: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .calling = stage, let detour else { return }
        var notes: [ExchangeMoment] = []
        let order = detour.called(response, detourContext(context, out.time), &notes)
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
        guard let detour, detour.isActive || detour.keepsResponse else { return false }
        var notes: [ExchangeMoment] = []
        let order = detour.failed(reason, detourContext(context, out.time), &notes)
        for moment in notes { tell(moment, out.now) }
        guard let order else { return false }
        perform(order, &context, &out)
        return true
    }

    /// Time has passed in a detour. False when the ordinary timeouts apply.
    mutating func detourWoke(_ context: inout ClientContext, _ out: inout Outbox) -> Bool {
        guard let detour, detour.isActive || detour.keepsResponse else { return false }
        var notes: [ExchangeMoment] = []
        let order = detour.woke(detourContext(context, out.time), &notes)
        for moment in notes { tell(moment, out.now) }
        guard let order else { return false }
        if case .calling = stage, case .proceed = order {
            // the call that took too long is ended before a connection is asked for
            enter(.waiting(.send), until: out.now + 1)
            out.orders.append(.wake(at: out.now + 1))
            return true
        }
        perform(order, &context, &out)
        return true
    }

    /// A person has spoken to what the detour asks.
    mutating func personSpoke(_ context: inout ClientContext, _ out: inout Outbox) {
        guard awaitsPerson else { return }
        _ = detourWoke(&context, &out)
    }

    var awaitsPerson: Bool { if case .waiting(.detour) = stage { true } else { false } }

    /// What the detour waits for has come.
    mutating func flightCame(_ context: inout ClientContext, _ out: inout Outbox) {
        guard case .waiting(.detour) = stage else { return }
        _ = detourWoke(&context, &out)
    }

    /// The detour waits for this ticket's turn.
    func awaits(_ ticket: FlightTicket) -> Bool {
        guard case .waiting(.detour) = stage, let detour else { return false }
        return detour.awaits(ticket)
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
            capture.forgetAnswer()
            deliverHeld(original, context, &out)
        case .call(let call):
            let limit = detour?.limit ?? .max
            enter(.calling(until: limit), until: limit)
            out.replies.append(.call(call))
        case .wait(let time):
            enter(.waiting(.detour), until: time)
            out.orders.append(.wake(at: time))
        case .ask(let transaction, let time):
            enter(.waiting(.detour), until: time)
            out.orders.append(.awaitPerson(id, transaction))
        case .waitFor(let ticket, let time):
            enter(.waiting(.detour), until: time)
            out.orders.append(.awaitFlight(id, ticket))
            out.orders.append(.wake(at: time))
        case .proceed: leaseForSending(&context, &out)
        case .refuse(let error):
            release(reusable: false, &out)
            answer(error, &out)
        case .again(let held):
            guard retries.total < engine.settings.limits.retries else {
                tell(
                    .notRetried(
                        interceptor: nil, "limits.retries allows \(engine.settings.limits.retries) further attempts"),
                    out.now)
                return deliverHeld(held, context, &out)
            }
            retries.enterUnasked()
            release(reusable: false, &out)
            attempt.renew()
            send(&context, &out)
        case .replace(let head, let bytes):
            attempt.basis = (head, bytes)
            attempt.renew()
            send(&context, &out)
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
        // whoever makes it knows what it is, and nobody else has to know whose flow it belongs to
        classification = engine.classifier.own(head, call.action, call.payload)
        tell(detour.moment(url: engine.redaction.url(of: head)), out.now)
        body.bytes = call.body
        body.isKept = true
        body.hasEnded = true
        let outcome = intercept(&head, out)
        callEdited(head, outcome, &context, &out)
    }

    /// The request phase of a call has come to that.
    mutating func callEdited(
        _ head: RequestHead, _ outcome: Outcome, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        guard let detour = call else { return }
        switch outcome.verdict {
        case .proceed: break
        case .suspend(let suspension): return suspend(.call(head), suspension, outcome, &out)
        case .respond(let local, _):
            return comeTo(HeldResponse(local), after: drawn(outcome.delays, out.now), context, &out)
        case .abort(let interceptor, let reason):
            return end(.notCalled("interceptor \(interceptor) aborted the call: \(reason)"), out.now)
        case .breaks(let breakage, let interceptor):
            return end(.notCalled("interceptor \(interceptor) broke the call: \(breakage.rawValue)"), out.now)
        }
        attempt.wishes.ending = outcome.ending
        attempt.wishes.timeout = outcome.timeout
        // a session or a password is in this request: it goes where the configuration says and nowhere else
        if let refusal = detour.bound.refusal(of: head) { return end(.notCalled(refusal), out.now) }
        request = head
        attempt.head = head
        if outcome.limits.isEmpty { return goOn(outcome, &context, &out) }
        pass(LimitPassage(outcome), &context, &out)
    }

    /// The answer to the call that this exchange is.
    mutating func finishCall(_ answer: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        var answer = answer
        let made = intercept(&answer.head, .whole(answer.body), out)
        finishCall(answer, made, &context, &out)
    }

    /// The response phase of a call has come to that.
    mutating func finishCall(
        _ answer: HeldResponse, _ made: BodyOutcome, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        var answer = answer
        switch made.outcome.verdict {
        case .proceed: answer.body = made.body.bytes(insteadOf: answer.body)
        case .suspend(let suspension): return suspend(.answer(answer), suspension, made.outcome, &out)
        case .respond(let local, _): answer = HeldResponse(local)
        case .abort(let interceptor, let reason):
            return end(.notCalled("interceptor \(interceptor) aborted the answer to the call: \(reason)"), out.now)
        case .breaks(let breakage, let interceptor):
            return end(
                .notCalled("interceptor \(interceptor) broke the answer to the call: \(breakage.rawValue)"), out.now)
        }
        var ending = attempt.wishes.ending
        ending.add(made.outcome.ending)
        if let cut = ending.cut, cut.bytes < answer.body.count {
            return end(
                .notCalled("interceptors had the answer to the call break off after \(cut.bytes) bytes"), out.now)
        }
        let wait = drawn(made.outcome.delays, out.now)
        comeTo(answer, after: wait + held(ending, out.now), context, &out)
    }

    /// The call has come to this.
    private mutating func comeTo(
        _ answer: HeldResponse, after wait: Int, _ context: ClientContext, _ out: inout Outbox
    ) {
        if wait > 0 { return pause(.called(answer), for: wait, &out) }
        end(.called(answer), out.now)
    }
}
