import HTTPCodec
import Interception

/// Delays, pacing and retries that interceptors request.
extension Exchange {
    // MARK: waiting

    /// - Parameter wait: in milliseconds.
    mutating func pause(_ resumption: ExchangeStage.Resumption, for wait: Int, _ out: inout Outbox) {
        stage.enter(.waiting(resumption), until: out.now + wait)
        out.orders.append(.wake(at: out.now + wait))
    }

    /// Continues after the wait.
    mutating func resume(_ resumption: ExchangeStage.Resumption, _ context: inout ClientContext, _ out: inout Outbox) {
        switch resumption {
        case .filter: break
        case .request: resumeRequest(&context, &out)
        case .lease: lease(&context, &out)
        case .answer(let local, let interceptor): answer(local, interceptor: interceptor, &out)
        case .breaks(let breakage, let interceptor): breaks(breakage, interceptor: interceptor, &out)
        case .attempt: send(&context, &out)
        case .called(let answer): end(.called(answer), out.now)
        }
    }

    // MARK: another attempt

    /// Retries the request if one of the interceptors that wish it has an attempt left.
    /// - Returns: false when the response or the error stands.
    mutating func attemptsAgain(_ wishes: [RetryWish], _ context: ClientContext, _ out: inout Outbox) -> Bool {
        let circumstances = RetryLedger.Circumstances(
            limits: engine.settings.limits, clientHasEnded: context.hasEnded, isBodyKept: body.isKept,
            lacksRoom: body.lacksRoom, method: (attempt.basis?.head ?? request).method,
            end: log.capture.began + engine.settings.timeouts.attempts, now: out.now, seconds: out.seconds,
            // only a response to this attempt may ask for a delay
            retryAfter: attempt.hasAnswered ? response.fields["Retry-After"] : nil)
        var notes: [ExchangeMoment] = []
        let grant = retries.grant(wishes, circumstances, &notes)
        for moment in notes { log.tell(moment, out.now) }
        guard let grant else { return false }
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
        stage.enter(.waiting(.attempt), until: bounded(out.now + grant.wait))
        out.orders.append(.wake(at: out.now + grant.wait))
        return true
    }

    // MARK: no answer

    /// Runs the error phase.
    /// - Returns: true when an interceptor replaces Usher's own response.
    mutating func isHandled(_ error: ProxyError, _ context: ClientContext, _ out: inout Outbox) -> Bool {
        let plan = engine.plan
        guard plan.hasErrorRules, terms.hasClient, let fault = error.fault else { return false }
        let outcome = phases.run(
            plan, on: fault, to: sentHead, EditContext(failed: self, at: out.seconds), &log, out.now)
        switch outcome.verdict {
        case .proceed, .suspend: return !outcome.retries.isEmpty && attemptsAgain(outcome.retries, context, &out)
        case .respond(let local, let interceptor):
            log.tell(.failed(token: error.token, details: error.details), out.now)
            answer(local, interceptor: interceptor, &out)
        case .abort(let interceptor, let reason):
            log.tell(.failed(token: error.token, details: error.details), out.now)
            answer(.aborted(.error, by: interceptor, reason, terms), &out)
        case .breaks(let breakage, let interceptor):
            log.tell(.failed(token: error.token, details: error.details), out.now)
            breaks(breakage, interceptor: interceptor, &out)
        }
        return true
    }

    // MARK: pace

    mutating func pace(_ paced: PacedResponse, _ out: inout Outbox) {
        stage.enter(.pacing(paced))
        letThrough(paced, &out)
    }

    /// Sends the client the part of a paced response that is due.
    mutating func letThrough(_ paced: PacedResponse, _ out: inout Outbox) {
        if paced.begins(out.now) {
            if paced.isOwn {
                delivery.begin(response, paced.framing, HeadManner(isOwn: true, isLast: paced.isLast), &log, &out)
            } else {
                reply(paced.framing, isLast: paced.isLast, &out)
            }
        }
        let idle = out.now + engine.settings.timeouts.idle
        switch delivery.send(dueOf: paced, &out) {
        case .waits(let time):
            stage.wait(until: time)
            out.orders.append(.wake(at: time))
        case .lacks: stage.wait(until: idle)
        case .passes: stage.enter(.delivering, until: idle)
        case .ends: complete(out.now)
        case .breaksOff(let cut): breaksOff(cut, &out)
        }
    }
}
