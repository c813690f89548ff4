import Authorization
import HTTPCodec
import Interception

/// Runs the filters of an exchange, their actions and their calls.
extension Exchange {
    /// Adds the filters that register for the request.
    /// - Returns: how many bytes of the request's body to keep for them.
    mutating func addFilters(at point: FilterRegistration.Point, _ out: borrowing Outbox) -> Int {
        var setup = FilterSetup(of: self, at: point, EditContext(request: self, at: out.seconds))
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

    /// Calls the filters and logs what they report.
    @discardableResult
    private mutating func ask<Result>(
        _ context: ClientContext, _ out: borrowing Outbox,
        _ ask: (FilterChain, inout FilterContext) -> Result?
    ) -> Result? {
        guard let filters else { return nil }
        var surroundings = FilterContext(of: self, context, out.time)
        let result = ask(filters, &surroundings)
        for moment in surroundings.notes { log.tell(moment, out.now) }
        return result
    }

    /// Runs the filters' request phase. True when the request may go out; false when a filter has begun something else.
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

    /// Tells the filters that the head of a response is here.
    mutating func answerSeen(_ context: ClientContext, _ out: borrowing Outbox) {
        guard filters != nil else { return }
        var head = response
        ask(context, out) { $0.headCame(&head, &$1) }
        response = head
    }

    /// The number of response bytes that the filters need.
    mutating func filtersHold(_ context: ClientContext, _ out: borrowing Outbox) -> Int? {
        guard filters != nil else { return nil }
        var head = response
        return ask(context, out) { $0.holds(&head, &$1) }
    }

    /// Tells the filters that the response is too large to hold.
    mutating func answerUnheld(_ context: ClientContext, _ out: borrowing Outbox) {
        var head = response
        ask(context, out) { $0.tooLarge(&head, &$1) }
    }

    /// Gives the filters a response that is held whole.
    mutating func considerHeld(_ held: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        // whether the request arrived matters only for failures, and this is a response
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

    /// Gives the filters the response to a call.
    mutating func called(_ response: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .calling = stage.state else { return }
        guard let action = ask(context, out, { $0.event(.answered(response), &$1) }) else {
            return cut(reset: true, &out)
        }
        perform(action, &context, &out)
    }

    /// Tells the filters that their call failed.
    mutating func callFailed(_ reason: String, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .calling = stage.state else { return }
        if !filtersFailed(reason, &context, &out) { cut(reset: true, &out) }
    }

    /// Tells the filters that their work failed.
    /// - Returns: false when no filter can handle the failure.
    mutating func filtersFailed(_ reason: String, _ context: inout ClientContext, _ out: inout Outbox) -> Bool {
        guard filters?.isHolding == true,
            let action = ask(context, out, { $0.event(.failed(reason), &$1) })
        else { return false }
        perform(action, &context, &out)
        return true
    }

    /// Tells the filters that time has passed. False when the ordinary timeouts apply.
    mutating func filtersWoke(_ context: inout ClientContext, _ out: inout Outbox) -> Bool {
        guard filters?.isHolding == true, let action = ask(context, out, { $0.event(.woke, &$1) }) else {
            return false
        }
        if case .calling = stage.state, case .proceed = action {
            // end the call that took too long before asking for a connection
            stage.enter(.waiting(.lease), until: out.now + 1)
            out.orders.append(.wake(at: out.now + 1))
            return true
        }
        perform(action, &context, &out)
        return true
    }

    private mutating func perform(_ action: FilterAction, _ context: inout ClientContext, _ out: inout Outbox) {
        requestPhase.giveUpWait()
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
            stage.enter(.calling(until: limit), until: limit)
            out.replies.append(.call(call))
        case .wait(let time):
            stage.enter(.waiting(.filter(nil)), until: bounded(time))
            out.orders.append(.wake(at: bounded(time)))
        case .waitFor(let ticket, let time):
            stage.enter(.waiting(.filter(ticket)), until: bounded(time))
            out.orders.append(.awaitTicket(id, ticket))
            out.orders.append(.wake(at: bounded(time)))
        case .proceed, .hold: lease(&context, &out)
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
}
