import HTTPCodec
import Interception

/// What interceptors have an exchange wait for: a time, a slower pace, another attempt.
extension Exchange {
    // MARK: waiting

    /// How long interceptors have a message wait, in milliseconds; each of them is told of.
    mutating func drawn(_ delays: [DelayWish], _ now: Int) -> Int {
        delays.drawn().reduce(0) { sum, wait in
            if wait.milliseconds > 0 {
                tell(.delayed(interceptor: wait.interceptor, milliseconds: wait.milliseconds), now)
            }
            return sum + wait.milliseconds
        }
    }

    /// The same of an answer's end.
    mutating func held(_ ending: AnswerEnding, _ now: Int) -> Int {
        ending.holds.drawn().reduce(0) { sum, hold in
            tell(.endDelayed(interceptor: hold.interceptor, milliseconds: hold.milliseconds), now)
            return sum + hold.milliseconds
        }
    }

    /// - Parameter wait: in milliseconds.
    mutating func pause(_ resumption: Resumption, for wait: Int, _ out: inout Outbox) {
        enter(.waiting(resumption), until: out.now + wait)
        out.orders.append(.wake(at: out.now + wait))
    }

    /// The wait is over.
    mutating func resume(_ resumption: Resumption, _ context: inout ClientContext, _ out: inout Outbox) {
        switch resumption {
        case .filter: break
        case .send: leaseForSending(&context, &out)
        case .answer(let local, let interceptor): answer(local, interceptor: interceptor, &out)
        case .breaks(let breakage, let interceptor): breaks(breakage, interceptor: interceptor, &out)
        case .turn(let passage): lookForTurn(passage, &context, &out)
        case .attempt: send(&context, &out)
        case .called(let answer): end(.called(answer), out.now)
        }
    }

    // MARK: another attempt

    /// Has the request sent again where one of those who wish so may have it.
    /// - Returns: false where the answer, or what is there instead, stands.
    mutating func attemptsAgain(_ wishes: [RetryWish], _ context: ClientContext, _ out: inout Outbox) -> Bool {
        if let reason = refusalToRetry(context) {
            tell(.notRetried(interceptor: wishes.first?.interceptor, reason), out.now)
            return false
        }
        for wish in wishes {
            let number = retries.count(of: wish.interceptor) + 1
            let wait = wait(for: wish.policy, number, out.seconds)
            if let reason = refusal(of: wish, number, wait, out.now) {
                tell(.notRetried(interceptor: wish.interceptor, reason), out.now)
                continue
            }
            // no more than there are left for all
            let most = min(wish.policy.times, number - 1 + engine.settings.limits.retries - retries.total)
            retries.enter(wish.interceptor)
            captureAttempt(&out)
            tell(.retried(interceptor: wish.interceptor, number: number, of: most, milliseconds: wait), out.now)
            release(reusable: false, &out)
            if engine.settings.chain.editsPersist { attempt.persist() } else { attempt.renew() }
            if let basis = wish.basis {
                attempt.basis = (basis.head, basis.body ?? attempt.body)
                attempt.renew()
            }
            enter(.waiting(.attempt), until: bounded(out.now + wait))
            out.orders.append(.wake(at: out.now + wait))
            return true
        }
        return false
    }

    /// Why nobody may have this exchange's request sent again.
    private func refusalToRetry(_ context: ClientContext) -> String? {
        let limits = engine.settings.limits
        if isCall { return "a call of Usher's own is not repeated" }
        if context.hasEnded { return "the client has closed its side" }
        if retries.total >= limits.retries { return "limits.retries allows \(limits.retries) further attempts" }
        if body.isKept { return nil }
        return body.lacksRoom
            ? "limits.buffered left no room to keep the request's body"
            : "the request's body is larger than the \(limits.keptBody) bytes that are kept (limits.buffered_body)"
    }

    private func refusal(of wish: RetryWish, _ number: Int, _ wait: Int, _ now: Int) -> String? {
        let method = (attempt.basis?.head ?? request).method
        if number > wish.policy.times { return "it has had all its \(wish.policy.times)" }
        if !wish.policy.repeatsAny, !method.isIdempotent {
            return "it repeats idempotent methods alone; methods: any repeats others"
        }
        if now + wait > capture.began + engine.settings.timeouts.attempts {
            return "it would go out in \(wait) ms, past what timeouts.attempts allows"
        }
        return nil
    }

    /// How long to wait before another attempt, in milliseconds.
    private func wait(for policy: RetryPolicy, _ number: Int, _ seconds: Int) -> Int {
        // the answer at hand is the one that asks
        if policy.heedsRetryAfter, attempt.hasAnswered, let field = response.fields["Retry-After"],
            let asked = RetryAfter.delay(field, now: seconds, cap: policy.backoff.cap)
        {
            return asked
        }
        var chance = SystemRandomNumberGenerator()
        return policy.backoff.delay(after: number, chance: &chance)
    }

    // MARK: no answer

    /// Runs the error phase.
    /// - Returns: true where something is done in the place of Usher's own answer.
    mutating func isHandled(_ error: ProxyError, _ context: ClientContext, _ out: inout Outbox) -> Bool {
        let plan = engine.plan
        guard plan.hasErrorRules, let fault = error.fault else { return false }
        var edits = editContext(out)
        edits.sentBody = arrivedBody
        let outcome = plan.applyError(fault, attempt.head ?? request, &edits)
        tell(of: outcome, .error, out.now)
        state = edits.state
        switch outcome.verdict {
        case .proceed, .suspend: return !outcome.retries.isEmpty && attemptsAgain(outcome.retries, context, &out)
        case .respond(let local, let interceptor):
            tell(.failed(token: error.token, details: error.details), out.now)
            answer(local, interceptor: interceptor, &out)
        case .abort(let interceptor, let reason):
            tell(.failed(token: error.token, details: error.details), out.now)
            answer(.aborted(.error, by: interceptor, reason), &out)
        case .breaks(let breakage, let interceptor):
            tell(.failed(token: error.token, details: error.details), out.now)
            breaks(breakage, interceptor: interceptor, &out)
        }
        return true
    }

    // MARK: pace

    /// The answer as it goes out where an interceptor has it wait, go slowly, or end otherwise.
    mutating func paced(
        _ outcome: Outcome, _ framing: BodyFraming, body: [UInt8] = [], isWhole: Bool = false, _ now: Int
    ) -> PacedResponse? {
        var ending = attempt.wishes.ending
        ending.add(outcome.ending)
        let manner = PacedResponse.Manner(
            delay: drawn(outcome.delays, now), rate: outcome.rate, cut: ending.cut, hold: held(ending, now))
        return manner.isPlain
            ? nil : PacedResponse(framing, manner, body: body, isWhole: isWhole, now: now)
    }

    mutating func pace(_ paced: PacedResponse, _ out: inout Outbox) {
        enter(.pacing(paced))
        letThrough(paced, &out)
    }

    /// Gives the client what it may have by now.
    mutating func letThrough(_ paced: PacedResponse, _ out: inout Outbox) {
        if paced.begins(out.now) { begin(paced, &out) }
        let bytes = paced.take(out.now)
        if !bytes.isEmpty { out.replies.append(.data(bytes)) }
        let idle = out.now + engine.settings.timeouts.idle
        switch paced.rest(out.now) {
        case .waits(let time):
            wait(until: time)
            out.orders.append(.wake(at: time))
        case .lacks: wait(until: idle)
        case .passes: enter(.delivering, until: idle)
        case .ends(let trailers):
            out.replies.append(.end(trailers: trailers))
            complete(out.now)
        case .breaksOff(let cut): breaksOff(cut, &out)
        }
    }

    private mutating func begin(_ paced: PacedResponse, _ out: inout Outbox) {
        guard paced.isOwn else { return reply(paced.framing, isLast: paced.isLast, &out) }
        tell(.delivered(status: response.status), out.now)
        capture.delivery = .other(response)
        out.replies.append(.head(response, paced.framing, HeadManner(isOwn: true, isLast: paced.isLast)))
    }

    /// Gives the origin what it may have by now of a body that goes slowly.
    mutating func letUp(_ out: inout Outbox) {
        guard let upload = attempt.upload else { return }
        let bytes = upload.bytes.take(out.now)
        if !bytes.isEmpty {
            out.send(bytes.span, of: id)
            if case .awaiting = stage { wait(until: bounded(out.now + engine.settings.timeouts.idle)) }
        }
        if let next = upload.bytes.next(out.now) { return out.orders.append(.wake(at: next)) }
        guard upload.isWhole else { return }
        attempt.upload = nil
        out.orders.append(.sendEnd(id, trailers: trailers))
        sentWhole(out.now)
    }
}

extension Exchange.Resumption {
    var isFilters: Bool { if case .filter = self { true } else { false } }
}
