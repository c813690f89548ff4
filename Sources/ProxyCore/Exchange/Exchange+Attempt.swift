import Authorization
import HTTPCodec
import Interception

/// One sending of the request: the origin's connection, and the request on it.
extension Exchange {
    /// Orders a connection for a request that has passed its phase, unless a filter has something else in mind.
    /// - Parameter scope: the connections that may be used, when already decided.
    mutating func lease(by scope: LeaseScope? = nil, _ context: inout ClientContext, _ out: inout CommandBuffer) {
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

    /// The driver has begun a step of the lease.
    mutating func leaseReached(_ step: LeaseStep, _ now: Int) {
        attempt.reached(step, &stage, info, limit: bounded(.max), now)
    }

    /// Handles an event at the origin's side. A late one finds another stage and is ignored.
    mutating func came(_ event: OriginEvent, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        if case .leased = event, case .leasing = stage.state {
            info.received.body.search(for: filters?.enforcing == nil ? nil : sentHead)
        }
        let step = attempt.came(
            event, &stage, &responsePhase.head, &info, limit: bounded(.max), retries: retries.total, &context, &out)
        switch step {
        case .nothing: break
        case .interim(let head): delivery.interim(head, isOwn: false, &out)
        case .head(let framing):
            filtered(.head, context, out)
            perform(responsePhase.begin(framing, &info, attempt, out), &context, &out)
        case .switchProtocol:
            perform(
                responsePhase.edit(.whole([]), at: .delivery, then: .switchProtocol, &info, attempt, out), &context,
                &out)
        case .sendAgain:
            retries.enterUnasked()
            release(reusable: false, &out)
            lease(by: .new, &context, &out)
        case .stop(let error): stop(error, &out)
        case .failed(let error): failed(error, &context, &out)
        }
    }

    /// The exchange failed at the origin: reports the error to the client, the filters or the caller.
    mutating func failed(_ error: ProxyError, _ context: inout ClientContext, _ out: inout CommandBuffer) {
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
    mutating func attemptsAgain(_ wishes: [RetryWish], _ context: ClientContext, _ out: inout CommandBuffer) -> Bool {
        // only a response to this attempt may ask for a delay
        let retryAfter = attempt.hasAnswered ? response.fields["Retry-After"] : nil
        let circumstances = RetryLedger.Circumstances(
            info, attempt, retryAfter: retryAfter, clientHasEnded: context.hasEnded, out)
        guard let grant = retries.grant(wishes, circumstances, &info.log) else { return false }
        // record this attempt before its response is discarded
        if attempt.hasAnswered {
            FlowWriter.writeAttempt(of: self, log.capture.answer ?? response, log.capture.answerBody, &out)
        }
        info.log.tell(grant.event, out.now)
        release(reusable: false, &out)
        attempt.renew(from: grant.wish.basis, keepsEdits: engine.settings.chain.editsPersist)
        wait(.attempt, until: bounded(out.now + grant.wait), &out)
        return true
    }
}
