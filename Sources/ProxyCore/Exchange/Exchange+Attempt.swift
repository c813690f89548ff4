import Authorization
import HTTPCodec
import Interception
import TLSEngine

/// One sending of the request: the origin's connection, and the request on it.
extension Exchange {
    /// Orders a connection for a request that has passed its phase, unless a filter has something else in mind.
    /// - Parameter scope: the connections that may be used, when already decided.
    mutating func lease(by scope: LeaseScope? = nil, _ context: inout ClientContext, _ out: inout Outbox) {
        if engine.isEnforcing, info.terms.isGuarded,
            let refusal = engine.refusal(of: attempt, info.received, asking: filters?.enforcing)
        {
            return answer(refusal, &out)
        }
        if filters != nil {
            let plain = sentHead
            var head = plain
            let action = ask(context, out) { filters, surroundings in
                if let action = filters.ready(&head, &surroundings) { return action }
                filters.leaving(&head, &surroundings)
                return nil
            }
            if let action { return perform(action, &context, &out) }
            attempt.plain = plain
            attempt.head = head
        }
        let scope = scope ?? attempt.scope(isReplay: filters?.keepsResponse == true, info)
        attempt.orderLease(scope, &info, &context, &out)
        stage.enter(.leasing(.connecting), until: bounded(out.now + engine.settings.timeouts.connect))
    }

    /// - Parameter sendsRaw: body bytes may be relayed to the origin unread.
    mutating func leased(
        reused: Bool, sendsRaw: Bool, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        guard case .leasing = stage.state else { return out.orders.append(.release(id, reusable: true)) }
        info.received.body.search(for: filters?.enforcing == nil ? nil : sentHead)
        attempt.leased(isReused: reused, sendsRaw: sendsRaw, info, &context, &out)
        if info.received.body.hidesMethod() { return stop(.hiddenMethod, &out) }
        let timeouts = engine.settings.timeouts
        switch attempt.send(&info, context, &out) {
        case .whole: stage.enter(.awaiting, until: bounded(out.now + timeouts.response))
        case .part: stage.enter(.awaiting, until: out.now + timeouts.idle)
        case .paced:
            stage.enter(.awaiting, until: bounded(out.now + timeouts.idle))
            upload(&out)
        }
    }

    /// Sends the origin the part of a paced request body that is due.
    mutating func upload(_ out: inout Outbox) {
        let sent = attempt.sendUpload(info, &out)
        guard case .awaiting = stage.state else { return }
        if sent.moved { stage.wait(until: bounded(out.now + engine.settings.timeouts.idle)) }
        if sent.isWhole { stage.wait(until: out.now + engine.settings.timeouts.response) }
    }

    /// The driver has begun a step of the lease, which has its own timeout.
    mutating func leaseReached(_ step: LeaseStep, _ now: Int) {
        guard case .leasing = stage.state else { return }
        log.capture.reached(step, now)
        stage.enter(.leasing(step), until: bounded(now + engine.settings.timeouts.of(step)))
    }

    /// The driver could not connect to the origin.
    mutating func leaseFailed(_ failure: LeaseFailure, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .leasing(let step) = stage.state, let wanted = attempt.origin else { return }
        failed(ProxyError(failure, at: step, wanted), &context, &out)
    }

    // MARK: no response

    /// The origin closed before its response was complete.
    /// - Parameter ending: how the stream ended, when only the stream ended.
    mutating func originEnded(
        fault: TLSFault? = nil, _ ending: StreamEnding, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        switch stage.state {
        case .leasing: failed(.terminated(ending), &context, &out)
        case .awaiting:
            let limit = engine.settings.limits.retries
            if attempt.mayRepeat(info.received, after: ending, retries: retries.total, limit: limit) {
                retries.enterUnasked()
                release(reusable: false, &out)
                // a proof covers one sending only, so the retry starts without it
                if let plain = attempt.plain { attempt.head = plain }
                return lease(by: .new, &context, &out)
            }
            if let fault, let wanted = attempt.origin { return failed(ProxyError(fault, wanted), &context, &out) }
            failed(attempt.hasAnswered ? .incomplete(ending) : .terminated(ending), &context, &out)
        case .pacing(let paced) where paced.isWhole: break
        case .delivering, .holding, .pacing: failed(.incomplete(ending), &context, &out)
        case .reading, .authenticating, .collecting, .deciding, .calling, .waiting, .intercepting, .tunnelling, .over:
            break
        }
    }

    /// The origin's response is invalid HTTP.
    mutating func originBroke(_ fault: HTTPFault, _ context: inout ClientContext, _ out: inout Outbox) {
        failed(
            .badResponse("the origin's answer breaks HTTP: \(fault.explanation) (\(fault.code.rawValue))"), &context,
            &out)
    }

    /// The exchange failed at the origin: reports the error to the client, the filters or the caller.
    mutating func failed(_ error: ProxyError, _ context: inout ClientContext, _ out: inout Outbox) {
        if handled(.failed(error.details), &context, &out) { return }
        if delivery.hasBegun {
            log.tell(.failed(token: error.token, details: error.details), out.now)
            return cut(reset: true, &out)
        }
        guard engine.plan.hasErrorRules, info.terms.hasClient, let fault = error.fault else {
            return answer(error, &out)
        }
        let outcome = info.intercept(fault, to: attempt, out)
        if let replacement = Replacement(outcome.verdict) {
            log.tell(.failed(token: error.token, details: error.details), out.now)
            replace(replacement, in: .error, &out)
        } else if outcome.retries.isEmpty || !attemptsAgain(outcome.retries, context, &out) {
            answer(error, &out)
        }
    }

    // MARK: another attempt

    /// Retries the request if one of the interceptors that wish it has an attempt left.
    /// - Returns: false when the response or the error stands.
    mutating func attemptsAgain(_ wishes: [RetryWish], _ context: ClientContext, _ out: inout Outbox) -> Bool {
        // only a response to this attempt may ask for a delay
        let retryAfter = attempt.hasAnswered ? response.fields["Retry-After"] : nil
        let circumstances = RetryLedger.Circumstances(
            info, attempt, retryAfter: retryAfter, clientHasEnded: context.hasEnded, out)
        guard let grant = retries.grant(wishes, circumstances, &info.log) else { return false }
        // record this attempt before its response is discarded
        if attempt.hasAnswered {
            FlowWriter.writeAttempt(of: self, log.capture.answer ?? response, log.capture.answerBody, &out)
        }
        log.tell(
            .retried(
                interceptor: grant.wish.interceptor, number: grant.number, of: grant.most, milliseconds: grant.wait),
            out.now)
        release(reusable: false, &out)
        attempt.renew(from: grant.wish.basis, keepsEdits: engine.settings.chain.editsPersist)
        wait(.attempt, until: bounded(out.now + grant.wait), &out)
        return true
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
