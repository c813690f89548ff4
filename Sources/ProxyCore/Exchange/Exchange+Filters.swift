import Authorization
import HTTPCodec
import Interception

/// The filters of an exchange, and what they have it do; and the calls that they make.
extension Exchange {
    /// Gives the exchange the filters that its request gets.
    /// - Returns: how many bytes of the request's body have to be kept for them.
    mutating func addFilters(at point: FilterRegistration.Point, _ out: borrowing Outbox) -> Int {
        var setup = FilterSetup(
            engine, request, body.framing, body.classifierStep, watched: watched, sessionEnd: sessionEnd,
            body: arrivedBody, point == .head ? engine.stepUp(for: request, body.framing) : nil, editContext(out))
        for registration in engine.filters {
            if registration.point == point {
                registration.add(&setup)
            } else if point == .head, let need = registration.need {
                setup.keep(need(setup))
            }
        }
        phases.state = setup.edits.state
        for moment in setup.notes { log.tell(moment, out.now) }
        if let filters {
            filters.add(setup.filters)
        } else if !setup.filters.isEmpty {
            filters = FilterChain(setup.filters, enforcing: setup.enforcing)
        }
        return setup.keep
    }

    /// How the request may end a session, though it is no Action that does.
    private var sessionEnd: Classifier.SessionEnd? {
        guard !engine.settings.servers.isEmpty, !Action.known.contains(where: { $0 == classification?.action })
        else { return nil }
        return engine.classifier.sessionEnd(request)
    }

    /// What the request is to those who keep something for sessions: LOGOUT also where it may be one.
    private var watched: Classification? {
        guard sessionEnd != nil else { return classification }
        return Classification(
            action: .logout, realm: classification?.realm, evidence: "It may end a session, however it is read.")
    }

    private func filterContext(_ context: ClientContext, _ now: CookieSessions.Now) -> FilterContext {
        FilterContext(
            request: request, sent: sentHead, body: body.bytes,
            sentBody: body.isKept ? attempt.body ?? body.bytes : nil,
            mayHaveArrived: awaitsResponse, time: now, stores: context.stores,
            person: PersonContext(
                transactions: context.stores.transactions, address: context.source.address, user: log.record.user,
                url: log.record.url),
            tokens: TokenContext(
                store: context.stores.tokens, sender: sender(context), errands: context.stores.errands,
                classification: watched),
            grounds: CredentialGrounds(unproven: unproven(context), request: request))
    }

    func sender(_ context: ClientContext) -> RequestSender {
        RequestSender(address: context.source.address, user: log.record.user)
    }

    /// A tunnel may lead anywhere, and its name be the client's word alone, where nothing that is shown there is looked at.
    private func unproven(_ context: ClientContext) -> String? {
        guard let tunnel = context.tunnel, let name = tunnel.serverName, tunnel.matches(sentHead),
            !engine.settings.interception.security.demands(of: tunnel).provesName
        else { return nil }
        return
            "the request goes where the client's tunnel leads, and nothing proves that this is \(name), so it goes out without"
    }

    /// Has the filters look at something, and tells what they say of it.
    @discardableResult
    private mutating func ask<Result>(
        _ context: ClientContext, _ out: borrowing Outbox,
        _ ask: (FilterChain, inout FilterContext) -> Result?
    ) -> Result? {
        guard let filters else { return nil }
        var surroundings = filterContext(context, out.time)
        let result = ask(filters, &surroundings)
        for moment in surroundings.notes { log.tell(moment, out.now) }
        return result
    }

    /// What has to be done before the request goes out is done; else it has begun.
    mutating func isReady(_ context: inout ClientContext, _ out: inout Outbox) -> Bool {
        var head = sentHead
        let plain = head
        let action = ask(context, out) { filters, surroundings in
            if let action = filters.ready(&head, &surroundings) { return action }
            filters.leaving(&head, &surroundings)
            return nil
        }
        if let action {
            perform(action, &context, &out)
            return false
        }
        attempt.plain = plain
        attempt.head = head
        return true
    }

    /// The head of an answer is here.
    mutating func answerSeen(_ context: ClientContext, _ out: borrowing Outbox) {
        var head = response
        ask(context, out) { $0.headCame(&head, &$1) }
        response = head
    }

    /// How much of the response the filters want to see.
    mutating func filtersHold(_ context: ClientContext, _ out: borrowing Outbox) -> Int? {
        var head = response
        return ask(context, out) { $0.holds(&head, &$1) }
    }

    /// A response that was held for the filters' sake cannot be.
    mutating func answerUnheld(_ context: ClientContext, _ out: borrowing Outbox) {
        var head = response
        ask(context, out) { $0.tooLarge(&head, &$1) }
    }

    /// A response that was held for the filters' sake is here whole.
    mutating func considerHeld(_ held: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        // whether the request arrived matters for what fails, and this has not
        guard let action = ask(context, out, { $0.whole(held, &$1) }) else {
            return deliverHeld(held, context, &out)
        }
        if case .deliver = action {
        } else {
            FlowWriter.writeAttempt(
                of: self, log.capture.answer ?? held.head, log.capture.answerBody ?? held.body, &out)
        }
        perform(action, &context, &out)
    }

    /// The call that a filter made has come to something.
    mutating func called(_ response: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .calling = stage else { return }
        guard let action = ask(context, out, { $0.event(.answered(response), &$1) }) else {
            return cut(reset: true, &out)
        }
        perform(action, &context, &out)
    }

    /// The call that a filter made came to nothing.
    mutating func callFailed(_ reason: String, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .calling = stage else { return }
        if !filtersFailed(reason, &context, &out) { cut(reset: true, &out) }
    }

    /// What a filter is about came to nothing.
    /// - Returns: false where there is none that could do anything about it.
    mutating func filtersFailed(_ reason: String, _ context: inout ClientContext, _ out: inout Outbox) -> Bool {
        guard filters?.isHolding == true,
            let action = ask(context, out, { $0.event(.failed(reason), &$1) })
        else { return false }
        perform(action, &context, &out)
        return true
    }

    /// Time has passed for a filter. False when the ordinary timeouts apply.
    mutating func filtersWoke(_ context: inout ClientContext, _ out: inout Outbox) -> Bool {
        guard filters?.isHolding == true, let action = ask(context, out, { $0.event(.woke, &$1) }) else {
            return false
        }
        if case .calling = stage, case .proceed = action {
            // the call that took too long is ended before a connection is asked for
            enter(.waiting(.send), until: out.now + 1)
            out.orders.append(.wake(at: out.now + 1))
            return true
        }
        perform(action, &context, &out)
        return true
    }

    /// What a filter waits for has come: a person has spoken, or somebody else has come to an end.
    mutating func filterWaitCame(_ context: inout ClientContext, _ out: inout Outbox) {
        guard awaitsPerson else { return }
        _ = filtersWoke(&context, &out)
    }

    var awaitsPerson: Bool { if case .waiting(.filter) = stage { true } else { false } }

    /// A filter waits for this ticket's turn.
    func awaits(_ ticket: FlightTicket) -> Bool {
        if case .waiting(.filter(let awaited?)) = stage { awaited == ticket } else { false }
    }

    private mutating func perform(_ action: FilterAction, _ context: inout ClientContext, _ out: inout Outbox) {
        switch action {
        case .deliver(let held): deliverHeld(held, context, &out)
        case .giveBack(let original):
            release(reusable: false, &out)
            attempt.forget()
            attempt.isBinding = false
            log.capture.forgetAnswer()
            deliverHeld(original, context, &out)
        case .call(let call):
            let limit = filters?.limit ?? .max
            enter(.calling(until: limit), until: limit)
            out.replies.append(.call(call))
        case .wait(let time):
            enter(.waiting(.filter(nil)), until: bounded(time))
            out.orders.append(.wake(at: bounded(time)))
        case .ask(let transaction, let time):
            enter(.waiting(.filter(nil)), until: time)
            out.orders.append(.awaitPerson(id, transaction))
        case .waitFor(let ticket, let time):
            enter(.waiting(.filter(ticket)), until: bounded(time))
            out.orders.append(.awaitFlight(id, ticket))
            out.orders.append(.wake(at: bounded(time)))
        case .proceed, .hold: leaseForSending(&context, &out)
        case .refuse(let error):
            release(reusable: false, &out)
            answer(error, &out)
        case .again(let held):
            guard retries.total < engine.settings.limits.retries else {
                log.tell(
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
            log.tell(.replayed(method: head.methodText, url: engine.redaction.url(of: head)), out.now)
            attempt.basis = (head, bytes)
            attempt.renew()
            send(&context, &out)
        }
    }

    // MARK: a call

    /// Makes the call that this exchange is. It goes through the interceptors with an Action of its own, but never through
    /// filters.
    mutating func beginCall(_ context: inout ClientContext, _ out: inout Outbox) {
        guard let made = call else { return }
        let call = made.call
        var head = call.head
        // the classifier, and rules, look at the head alone to see whether there is a body
        head.fields.set("Content-Length", String(call.body.count))
        // whoever makes it knows what it is, and nobody else has to know whose flow it belongs to
        classification = engine.classifier.own(head, call.action, call.payload)
        log.tell(made.told(engine.redaction.url(of: head)), out.now)
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
        guard let call else { return }
        switch outcome.verdict {
        case .proceed: break
        case .suspend(let suspension): return suspend(.call(head), suspension, outcome, &out)
        case .respond(let local, _):
            return comeTo(HeldResponse(local), after: log.drawn(outcome.delays, out.now), context, &out)
        case .abort(let interceptor, let reason):
            return end(.notCalled("interceptor \(interceptor) aborted the call: \(reason)"), out.now)
        case .breaks(let breakage, let interceptor):
            return end(.notCalled("interceptor \(interceptor) broke the call: \(breakage.rawValue)"), out.now)
        }
        attempt.wishes.ending = outcome.ending
        attempt.wishes.timeout = outcome.timeout
        // a session or a password is in this request: it goes where the configuration says and nowhere else
        if let refusal = call.bound.refusal(of: head) { return end(.notCalled(refusal), out.now) }
        request = head
        attempt.head = head
        if outcome.limits.isEmpty { return goOn(outcome, &context, &out) }
        pass(outcome, &context, &out)
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
        let wait = log.drawn(made.outcome.delays, out.now)
        comeTo(answer, after: wait + log.held(ending, out.now), context, &out)
    }

    /// The call has come to this.
    private mutating func comeTo(
        _ answer: HeldResponse, after wait: Int, _ context: ClientContext, _ out: inout Outbox
    ) {
        if wait > 0 { return pause(.called(answer), for: wait, &out) }
        end(.called(answer), out.now)
    }
}
