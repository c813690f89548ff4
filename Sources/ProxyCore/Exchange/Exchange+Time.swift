import HTTPCodec
import Interception

/// Time, and a client that has closed its side.
extension Exchange {
    /// The driver relays, or a slow reader took something; this keeps the exchange from looking idle. It lends no time to
    /// what waits for something else: a connection, AM. What the client takes, interim answers above all, is no sign of the
    /// origin that an answer is to come.
    mutating func touched(_ leg: Leg, _ now: Int) {
        let timeouts = engine.settings.timeouts
        switch stage {
        case .delivering, .holding: wait(until: bounded(now + timeouts.idle))
        case .awaiting where leg == .origin:
            wait(until: bounded(now + (attempt.isSent ? timeouts.response : timeouts.idle)))
        case .awaiting, .reading, .authenticating, .collecting, .leasing, .deciding, .calling, .waiting, .intercepting,
            .pacing, .tunnelling, .over:
            break
        }
    }

    /// When a request is given up whose client has closed its side: nobody may be there to hear the answer, of which
    /// nothing has come yet.
    private func halfClosedLimit(_ context: ClientContext) -> Int {
        guard let ended = context.endedAt, terms.hasClient else { return .max }
        let timeout = engine.settings.timeouts.halfClosed
        switch stage {
        case .authenticating, .leasing, .awaiting, .deciding, .calling, .waiting, .intercepting: break
        case .reading, .collecting, .delivering, .holding, .pacing, .tunnelling, .over: return .max
        }
        let hasBegun = filters?.keepsResponse == true || (isLeased && attempt.hasAnswered)
        return timeout == 0 || hasBegun ? .max : max(ended, log.capture.began) + timeout
    }

    /// When `woke` has something to do.
    func wakeAt(_ context: ClientContext) -> Int {
        min(deadline, halfClosedLimit(context), uploadAt, attempt.wishes.answerLimit ?? .max)
    }

    /// When more of a body may go out that goes slowly.
    private var uploadAt: Int { awaitsResponse ? attempt.upload?.bytes.next(0) ?? .max : .max }

    /// Time has passed.
    mutating func woke(_ context: inout ClientContext, _ out: inout Outbox) {
        if out.now >= uploadAt { letUp(&out) }
        if let limit = attempt.wishes.answerLimit, out.now >= limit, limit <= deadline {
            answerMissed(&context, &out)
        } else if out.now >= deadline {
            timedOut(&context, &out)
        } else if out.now >= halfClosedLimit(context) {
            // the client may still listen: then it is told
            answer(.clientHalfClosed, isLast: true, &out)
        }
    }

    /// Has the request given up in time where an interceptor wants that. What is sent again unasked has what is left.
    mutating func limitAnswer(_ out: inout Outbox) {
        guard let wish = attempt.wishes.timeout, attempt.wishes.answerLimit == nil else { return }
        attempt.wishes.answerLimit = out.now + wish.milliseconds
        out.orders.append(.wake(at: out.now + wish.milliseconds))
    }

    /// That time is over.
    private mutating func answerMissed(_ context: inout ClientContext, _ out: inout Outbox) {
        attempt.wishes.answerLimit = nil
        guard let wish = attempt.wishes.timeout else { return }
        switch stage {
        case .leasing, .awaiting: failed(.missed(wish), &context, &out)
        case .reading, .authenticating, .collecting, .delivering, .holding, .deciding, .calling, .waiting, .pacing,
            .intercepting, .tunnelling, .over:
            break
        }
    }

    private mutating func timedOut(_ context: inout ClientContext, _ out: inout Outbox) {
        switch stage {
        case .authenticating: return refusePassword(PasswordGate.late, &out)
        case .collecting: return answer(.bodyTimeout, isLast: true, &out)
        case .reading, .tunnelling, .over: return
        case .pacing(let paced) where paced.next(out.now) != nil: return letThrough(paced, &out)
        case .waiting(let resumption) where !resumption.isFilters:
            if let limit = filters?.limit, out.now >= limit, filtersWoke(&context, &out) { return }
            return resume(resumption, &context, &out)
        case .intercepting(let phase): return interceptorTimedOut(phase, &context, &out)
        case .leasing, .awaiting, .delivering, .holding, .pacing, .deciding, .calling, .waiting: break
        }
        if filtersWoke(&context, &out) { return }
        switch stage {
        case .leasing: leaseFailed(.timedOut, &context, &out)
        case .awaiting: failed(attempt.isSent ? .responseTimeout : .bodyTimeout, &context, &out)
        case .delivering, .holding, .pacing:
            failed(
                ProxyError("http_response_timeout", status: 504, "the origin stopped in the middle of its answer"),
                &context, &out)
        case .reading, .authenticating, .collecting, .deciding, .calling, .waiting, .intercepting, .tunnelling,
            .over:
            cut(reset: false, &out)
        }
    }

    /// The client sends no more.
    /// - Parameter lacksBody: the end of the request's body is not among what it sent.
    mutating func clientEnded(lacksBody: Bool, _ out: inout Outbox) {
        switch stage {
        case .collecting: if lacksBody { cut(reset: false, &out) }
        case .awaiting, .delivering, .holding, .pacing:
            // while there is no connection the body waits
            if lacksBody { cut(reset: hasStarted, &out) }
        case .reading, .authenticating, .leasing, .deciding, .calling, .waiting, .intercepting, .tunnelling,
            .over:
            break
        }
    }

    /// Nobody is asked to step up, and nothing is sent again, for a client that may be gone, though it may have closed its sending side alone and still
    /// wait for the answer.
    /// - Returns: false where there is nothing to give up.
    mutating func giveUpWait(_ out: inout Outbox) -> Bool {
        if case .waiting(.attempt) = stage {
            log.tell(.notRetried(interceptor: retries.last, "the client went away"), out.now)
        } else {
            guard noteAbandoned(out.now) else { return false }
        }
        cut(reset: false, &out)
        return true
    }

    /// The client has gone: a step-up under way for it alone ends with it.
    /// - Returns: false where there is none.
    @discardableResult
    mutating func noteAbandoned(_ now: Int) -> Bool {
        guard filters?.endsWithClient == true else { return false }
        log.tell(.abandoned, now)
        return true
    }
}
