import Authorization
import HTTPCodec
import Interception

/// One sending of the request: interceptors, the origin's connection, the head.
extension Exchange {
    /// Sends the client's request, or the request that a filter made of it.
    mutating func send(_ context: inout ClientContext, _ out: inout Outbox) {
        log.tell(.sent, out.now)
        if attempt.head != nil || filters != nil || engine.plan.firstRequestMatch(received.head, classification) != nil
        {
            return editAndLease(&context, &out)
        }
        leaseForSending(&context, &out)
    }

    /// Runs the request phase on a copy and continues with its outcome.
    mutating func editAndLease(_ context: inout ClientContext, _ out: inout Outbox) {
        var head = sentHead
        let outcome = intercept(&head, out)
        edited(head, outcome, &context, &out)
    }

    /// Handles the outcome of the request phase.
    mutating func edited(
        _ head: RequestHead, _ outcome: Outcome, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        attempt.wishes.ending = outcome.ending
        switch outcome.verdict {
        case .proceed:
            if let call {
                // this request carries a session or a password: it may go only to the configured place
                if let refusal = call.bound.refusal(of: head) { return end(.notCalled(refusal), out.now) }
                request = head
            } else {
                attempt.wishes.rate = outcome.rate
            }
            attempt.head = head
            attempt.wishes.timeout = outcome.timeout
        case .suspend(let suspension): return suspend(.request(head), suspension, outcome, &out)
        case .respond, .breaks: break
        case .abort(let interceptor, let reason):
            return answer(.aborted(.request, by: interceptor, reason, terms), &out)
        }
        if outcome.limits.isEmpty { return goOn(outcome, &context, &out) }
        pass(outcome, &context, &out)
    }

    /// Acts on the outcome of the request phase.
    mutating func goOn(_ outcome: Outcome, _ context: inout ClientContext, _ out: inout Outbox) {
        switch outcome.verdict {
        case .respond(let local, let interceptor):
            answer(local, interceptor: interceptor, after: log.drawn(outcome.delays, out.now), &out)
        case .breaks(let breakage, let interceptor):
            breaks(breakage, interceptor: interceptor, after: log.drawn(outcome.delays, out.now), &out)
        case .proceed, .abort, .suspend:
            if let call, call.call.carriesAnswers { call.login?.tell() }
            leaseForSending(after: log.drawn(outcome.delays, out.now), &context, &out)
        }
    }

    /// - Parameters:
    ///   - wait: in milliseconds, requested by an interceptor.
    ///   - scope: the connections that may be used, when already decided.
    mutating func leaseForSending(
        after wait: Int = 0, by scope: LeaseScope? = nil, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        if wait > 0 { return pause(.send, for: wait, &out) }
        if engine.isEnforcing, terms.isGuarded, let field = engine.hiddenURL(in: sentHead) {
            return answer(.hiddenURL(field, sentHead.host), &out)
        }
        // interceptors may have redirected the request to a resource that AM must allow, and no filter asks AM
        if engine.isEnforcing, terms.isGuarded, let head = attempt.head,
            let covered = engine.stepUp(for: head, body.framing),
            covered.isEnforced, filters?.enforcing?.asks(like: covered.policy) != true
        {
            return answer(.unasked(head.host), &out)
        }
        if filters != nil, !isReady(&context, &out) { return }
        // AM performs a call only once, and an idle connection may have closed unnoticed; a replay that must not go out
        // twice avoids idle connections for the same reason (RFC 9110 §9.2.2)
        let goesOnce = filters?.keepsResponse == true && !(attempt.head?.method ?? request.method).isIdempotent
        lease(scope ?? (terms.isCall ? .recent : goesOnce ? .own : mayGoTwice ? .any : .heard), &context, &out)
    }

    // MARK: interceptors

    /// Runs the request phase on a request that is about to go out, and logs what happened.
    mutating func intercept(_ head: inout RequestHead, _ out: borrowing Outbox) -> Outcome {
        guard let first = engine.plan.firstRequestMatch(head, classification) else { return Outcome() }
        let made = phases.run(
            engine.plan, from: first, on: &head, arrivedBody, EditContext(request: self, at: out.seconds), &log, out.now
        )
        if case .replaced(let bytes) = made.body { attempt.body = bytes }
        return made.outcome
    }

    var arrivedBody: EditedBody.Arrival {
        if body.isKept { return .whole(attempt.body ?? body.bytes) }
        return body.lacksRoom ? .noRoom : .overLimit
    }

    // MARK: the origin's connection

    mutating func lease(_ scope: LeaseScope, _ context: inout ClientContext, _ out: inout Outbox) {
        let wanted = attempt.destination(of: received, context, engine, terms)
        if wanted.route != nil { log.tell(.routed(by: wanted.peer), out.now) }
        attempt.begin(wanted)
        limitAnswer(&out)
        attempt.isBinding = attempt.head?.fields.hasConnectionCredentials ?? request.fields.hasConnectionCredentials
        context.lastOrigin = wanted
        enter(.leasing(.connecting), until: bounded(out.now + engine.settings.timeouts.connect))
        var scope = attempt.isBinding && scope != .new ? .own : scope
        if let user = log.record.user, context.binding.isAnothers(than: user) { scope = .new }
        out.orders.append(.lease(id, wanted, scope, attempt.version(of: received, engine, terms)))
    }

    /// Marks the connection in use as carrying the client's identity.
    mutating func bind(_ context: inout ClientContext, _ out: inout Outbox) {
        if context.binding.bind(for: log.record.user) { out.orders.append(.unbind) }
        attempt.lease.bindings = context.binding.changes
        out.orders.append(.bind(id))
    }

    /// Whether the connection may serve this client again, by the known owner of its identity: several users may send
    /// streams on one client connection.
    func isStillBound(_ context: ClientContext) -> Bool { attempt.lease.bindings == context.binding.changes }

    /// - Parameter sendsRaw: body bytes may be relayed to the origin unread.
    mutating func leased(
        reused: Bool, sendsRaw: Bool, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        guard case .leasing = stage else { return out.orders.append(.release(id, reusable: true)) }
        attempt.lease.isReused = reused
        attempt.lease.isStream = !sendsRaw
        beginSearch()
        attempt.lease.sendsRaw = sendsRaw && attempt.wishes.rate == nil && body.search == nil
        attempt.lease.bindings = context.binding.changes
        if attempt.isBinding, !terms.isCall { bind(&context, &out) }
        let kept = body.bytes
        guard isPassable(kept.span, &out) else { return }
        sendHead(context, &out)
    }

    private mutating func sendHead(_ context: ClientContext, _ out: inout Outbox) {
        log.capture.sends(attempt.head, attempt.body, out.now)
        let framing = attempt.framing(of: received, engine, terms)
        out.send(attempt.outgoingHead(of: received, framing, from: context.source, engine, terms, log), of: id)
        let timeouts = engine.settings.timeouts
        if let rate = attempt.wishes.rate, framing != .none {
            attempt.upload = PacedRequest(
                rate: rate, attempt.body ?? body.bytes, isWhole: body.isKept, now: out.now)
            enter(.awaiting, until: bounded(out.now + timeouts.idle))
            if !body.isKept { forgetBody(context, &out) }
            letUp(&out)
        } else if body.isKept {
            let bytes = attempt.body ?? body.bytes
            enter(.awaiting, until: bounded(out.now + timeouts.response))
            out.send(bytes.span, of: id)
            out.orders.append(.sendEnd(id, trailers: attempt.trailers(of: received, engine)))
            attempt.isSent = true
        } else {
            // these bytes were collected before the body turned out too large to keep; no filter needs them now
            out.send(body.bytes.span, of: id)
            forgetBody(context, &out)
            enter(.awaiting, until: out.now + timeouts.idle)
        }
    }

    private mutating func forgetBody(_ context: ClientContext, _ out: inout Outbox) {
        log.capture.requestCame(body.bytes.span, total: &out.captured)
        body.bytes = []
        context.share?.letGo(of: id)
    }

    /// The driver has begun a step of the lease, which has its own timeout.
    mutating func leaseReached(_ step: LeaseStep, _ now: Int) {
        guard case .leasing = stage else { return }
        log.capture.reached(step, now)
        enter(.leasing(step), until: bounded(now + engine.settings.timeouts.of(step)))
    }

    /// The driver could not connect to the origin.
    mutating func leaseFailed(_ failure: LeaseFailure, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .leasing(let step) = stage, let wanted = attempt.origin else { return }
        failed(ProxyError(failure, at: step, wanted), &context, &out)
    }
}

extension Timeouts {
    func of(_ step: LeaseStep) -> Int {
        switch step {
        case .resolving: resolve
        case .connecting: connect
        case .securing: tls
        }
    }
}

extension ProxyError {
    init(_ failure: LeaseFailure, at step: LeaseStep, _ wanted: Origin) {
        switch (failure, step) {
        case (.timedOut, .resolving): self.init(.unresolved, wanted)
        case (.timedOut, .securing): self = .handshakeTimeout(wanted)
        default: self.init(failure, wanted)
        }
    }
}
