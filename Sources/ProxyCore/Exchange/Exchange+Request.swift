import Addresses
import Authorization
import HTTPCodec
import Interception

/// Takes the request through its phase: interceptors, limits and delays, until it is leased a connection.
extension Exchange {
    /// Sends the client's request, or the request that a filter made of it.
    mutating func send(_ context: inout ClientContext, _ out: inout Outbox) {
        log.tell(.sent, out.now)
        if attempt.head != nil || filters != nil || engine.plan.firstRequestMatch(received.head, classification) != nil
        {
            return runRequestPhase(&context, &out)
        }
        requestPhase.begin()
        requestPhase.skip()
        lease(&context, &out)
    }

    /// Runs the request phase on a copy and continues with its outcome.
    mutating func runRequestPhase(_ context: inout ClientContext, _ out: inout Outbox) {
        requestPhase.begin()
        var head = sentHead
        let outcome = intercept(&head, out)
        requestJudged(head, outcome, &context, &out)
    }

    /// Runs the request phase on a request that is about to go out, and logs what happened.
    private mutating func intercept(_ head: inout RequestHead, _ out: borrowing Outbox) -> Outcome {
        guard let first = engine.plan.firstRequestMatch(head, classification) else { return Outcome() }
        let made = phases.run(
            engine.plan, from: first, on: &head, received.body.arrived(attempt.body),
            EditContext(request: self, at: out.seconds), &log, out.now)
        if case .replaced(let bytes) = made.body { attempt.body = bytes }
        return made.outcome
    }

    /// Handles the outcome of the request phase.
    mutating func requestJudged(
        _ head: RequestHead, _ outcome: Outcome, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        if let call, case .proceed = outcome.verdict {
            // this request carries a session or a password: it may go only to the configured place
            if let refusal = call.bound.refusal(of: head) { return end(.notCalled(refusal), out.now) }
            request = head
        }
        attempt.adopt(head, outcome, terms)
        let passage = passage(of: outcome, context)
        let step = requestPhase.judged(head, outcome, limits: passage, &attempt.turns, &log, out.now)
        perform(step, &context, &out)
    }

    /// The limits that the outcome asks for; nil for none.
    private func passage(of outcome: Outcome, _ context: ClientContext) -> LimitPassage? {
        guard !outcome.limits.isEmpty, let store = context.stores.limits else { return nil }
        if case .abort = outcome.verdict { return nil }
        let subject = LimitPassage.Subject(
            host: sentHead.host, action: classification?.action,
            sender: RequestSender(address: context.source.address, user: log.record.user))
        return LimitPassage(outcome, subject, in: store, besides: calling?.places ?? [])
    }

    /// The request's wait at a limit or its delay is over.
    mutating func resumeRequest(_ context: inout ClientContext, _ out: inout Outbox) {
        perform(requestPhase.resume(&attempt.turns, &log, out.now), &context, &out)
    }

    /// Continues a request that waited at a limit, or a filter that waited. A late ticket finds nobody who waits, and is ignored.
    mutating func ticketCame(_ ticket: WaitingTicket, _ context: inout ClientContext, _ out: inout Outbox) {
        if ticket.kind != .limit {
            if stage.awaitsFilter { _ = filtersWoke(&context, &out) }
        } else if requestPhase.awaitsTurn {
            resumeRequest(&context, &out)
        }
    }

    func awaits(_ ticket: WaitingTicket) -> Bool {
        ticket.kind == .limit ? requestPhase.awaitsTurn : stage.awaits(ticket)
    }

    private mutating func perform(_ step: RequestPhase.Step, _ context: inout ClientContext, _ out: inout Outbox) {
        switch step {
        case .pass(let wasDelayed):
            if !wasDelayed { call?.tellLogin() }
            lease(&context, &out)
        case .delay(let time):
            call?.tellLogin()
            stage.enter(.waiting(.request), until: time)
            out.orders.append(.wake(at: time))
        case .queue(let time, let ticket):
            if let ticket { out.orders.append(.awaitTicket(id, ticket)) }
            stage.enter(.waiting(.request), until: bounded(time))
            out.orders.append(.wake(at: bounded(time)))
        case .run(let phase): suspend(phase, &out)
        case .respond(let local, let interceptor, let wait):
            answer(local, interceptor: interceptor, after: wait, &out)
        case .breaks(let breakage, let interceptor, let wait):
            breaks(breakage, interceptor: interceptor, after: wait, &out)
        case .abort(let interceptor, let reason): answer(.aborted(.request, by: interceptor, reason, terms), &out)
        case .refuse(let wish, let milliseconds):
            let error = ProxyError.limited(by: wish, milliseconds: milliseconds)
            stage.enter(.deciding)
            if !filtersFailed(error.details, &context, &out) { answer(error, &out) }
        }
    }
}
