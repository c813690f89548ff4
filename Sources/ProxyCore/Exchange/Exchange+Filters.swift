import Authorization
import HTTPCodec
import Interception

/// Runs the filters of an exchange, and carries out their actions.
extension Exchange {
    /// Adds the filters that register for the request.
    /// - Returns: how many bytes of the request's body to keep for them.
    mutating func addFilters(at point: FilterRegistration.Point, _ out: borrowing CommandBuffer) -> Int {
        let setup = FilterSetup(info, attempt, at: point, out.seconds).added(by: engine.filters, at: point)
        info.state = setup.edits.state
        for event in setup.notes { log.tell(event, out.now) }
        if let filters {
            filters.add(setup.filters)
        } else if !setup.filters.isEmpty {
            filters = FilterChain(setup.filters, enforcing: setup.enforcing)
        }
        return setup.keep
    }

    /// Calls the filters and logs what they report.
    mutating func ask<Result>(
        _ context: ClientContext, _ out: borrowing CommandBuffer, _ ask: (FilterChain, inout FilterContext) -> Result?
    ) -> Result? {
        guard let filters else { return nil }
        var surroundings = FilterContext(info, attempt, isOut: awaitsResponse, context, out.time)
        let result = ask(filters, &surroundings)
        for event in surroundings.notes { log.tell(event, out.now) }
        return result
    }

    /// Shows the filters a step of the response.
    /// - Returns: what they decide; nil without filters.
    @discardableResult
    mutating func filtered(
        _ step: ResponseStep, _ context: ClientContext, _ out: borrowing CommandBuffer
    ) -> FilterAction? {
        guard filters != nil else { return nil }
        var head = response
        let action = ask(context, out) { $0.response(step, &head, &$1) }
        response = head
        return action
    }

    /// Has the filters decide about a response that is held whole.
    mutating func consider(_ held: HeldResponse, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch filtered(.whole(held), context, out) {
        case .proceed?, nil: deliver(held, &context, &out)
        case .deliver(let other)?: perform(.deliver(other), &context, &out)
        case let action?:
            FlowWriter.writeAttempt(
                of: self, log.capture.answer ?? held.head, log.capture.answerBody ?? held.body, &out)
            perform(action, &context, &out)
        }
    }

    /// Tells the filter that has something pending about an event.
    /// - Returns: false when no filter handles it.
    mutating func handled(_ event: FilterEvent, _ context: inout ClientContext, _ out: inout CommandBuffer) -> Bool {
        guard filters?.isHolding == true, let action = ask(context, out, { $0.event(event, &$1) }) else { return false }
        if case .woke = event, case .calling = stage.state, case .proceed = action {
            // end the call that took too long before asking for a connection
            wait(.lease, until: out.now + 1, &out)
        } else {
            perform(action, &context, &out)
        }
        return true
    }

    mutating func perform(_ action: FilterAction, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        requestPhase.giveUpWait()
        switch action {
        case .deliver(let held): deliver(held, &context, &out)
        case .giveBack(let original):
            release(reusable: false, &out)
            attempt.forget()
            attempt.isBinding = false
            log.capture.forgetAnswer()
            deliver(original, &context, &out)
        case .call(let call):
            let limit = filters?.limit ?? .max
            stage.enter(.calling(until: limit), until: limit)
            out.clientCommands.append(.call(call))
        case .wait(let time): wait(.filter(nil), until: bounded(time), &out)
        case .waitFor(let ticket, let time):
            out.commands.append(.awaitTicket(id, ticket))
            // another filter's limit is no reason to stop asking a person
            wait(.filter(ticket), until: ticket.kind == .person ? time : bounded(time), &out)
        case .proceed, .hold: lease(&context, &out)
        case .refuse(let error):
            release(reusable: false, &out)
            answer(error, &out)
        case .again(let held):
            let limit = engine.settings.limits.retries
            guard retries.total < limit else {
                log.tell(.notRetried(interceptor: nil, "limits.retries allows \(limit) further attempts"), out.now)
                return deliver(held, &context, &out)
            }
            retries.enterUnasked()
            release(reusable: false, &out)
            attempt.renew()
            send(&context, &out)
        case .replace(let head, let bytes): send(head, bytes, &context, &out)
        case .attempt(let head, let bytes):
            release(reusable: false, &out)
            log.tell(.replayed(method: head.methodText, url: engine.redaction.url(of: head)), out.now)
            send(head, bytes, &context, &out)
        }
    }

    /// Sends a filter's version of the request.
    private mutating func send(
        _ head: RequestHead, _ body: [UInt8], _ context: inout ClientContext, _ out: inout CommandBuffer
    ) {
        attempt.basis = (head, body)
        attempt.renew()
        send(&context, &out)
    }
}
