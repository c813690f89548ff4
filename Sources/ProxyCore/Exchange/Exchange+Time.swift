import HTTPCodec
import Interception

/// Timeouts, and clients that have closed their sending side.
extension Exchange {
    /// Restarts the idle timeout when relayed bytes moved or a slow reader took some. It does not extend
    /// waits for a connection or for AM. The client's reading, of interim responses above all, is no sign that the
    /// origin will respond.
    mutating func touched(_ side: ConnectionSide, _ now: Int) {
        let timeouts = engine.settings.timeouts
        switch stage.state {
        case .delivering, .holding: stage.wait(until: bounded(now + timeouts.idle))
        case .awaiting where side == .origin:
            stage.wait(until: bounded(now + (attempt.isSent ? timeouts.response : timeouts.idle)))
        case .awaiting, .reading, .authenticating, .collecting, .leasing, .deciding, .calling, .waiting, .intercepting,
            .pacing, .tunnelling, .over:
            break
        }
    }

    /// When to give up a request whose client has closed its sending side before any part of the response came:
    /// the client may be gone.
    private func halfClosedLimit(_ ended: Int?) -> Int {
        guard let ended, info.terms.hasClient, stage.precedesResponse else { return .max }
        let timeout = engine.settings.timeouts.halfClosed
        let hasBegun = filters?.keepsResponse == true || (stage.isLeased && attempt.hasAnswered)
        return timeout == 0 || hasBegun ? .max : max(ended, log.capture.began) + timeout
    }

    /// When `woke` must be called, if the client closed its side at that time.
    func wakeAt(clientEnded ended: Int?) -> Int {
        min(stage.deadline, halfClosedLimit(ended), uploadAt, attempt.wishes.answerLimit ?? .max)
    }

    /// When more of a paced request body may go out.
    private var uploadAt: Int { stage.awaitsResponse ? attempt.uploadAt : .max }

    /// Acts on the timeouts that are due.
    mutating func woke(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        if out.now >= uploadAt { attempt.upload(&stage, info, limit: bounded(.max), &out) }
        if let limit = attempt.wishes.answerLimit, out.now >= limit, limit <= stage.deadline {
            answerMissed(&context, &out)
        } else if out.now >= stage.deadline {
            timedOut(&context, &out)
        } else if out.now >= halfClosedLimit(context.endedAt) {
            // the client may still listen, so report the error
            answer(.clientHalfClosed, isLast: true, &out)
        }
    }

    /// The interceptor's timeout expired.
    private mutating func answerMissed(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        attempt.wishes.answerLimit = nil
        guard let wish = attempt.wishes.timeout else { return }
        if stage.awaitsHead { failed(.missed(wish), &context, &out) }
    }

    private mutating func timedOut(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch stage.state {
        case .authenticating: return answer(PasswordGate.late, &out)
        case .collecting: return answer(.bodyTimeout, isLast: true, &out)
        case .reading, .tunnelling, .over: return
        case .pacing(let paced) where paced.next(out.now) != nil: return letThrough(paced, &out)
        case .waiting(let resumption) where !resumption.isFilters:
            if let limit = filters?.limit, out.now >= limit, handled(.woke, &context, &out) { return }
            return resume(resumption, &context, &out)
        case .intercepting(let phase):
            if let limit = filters?.limit, out.now >= limit {
                out.commands.append(.cancelIntercept(id))
                if handled(.woke, &context, &out) { return }
            }
            return answer(.lateCode(phase.suspension.call), &out)
        case .leasing, .awaiting, .delivering, .holding, .pacing, .deciding, .calling, .waiting: break
        }
        if handled(.woke, &context, &out) { return }
        switch stage.state {
        case .leasing: came(.leaseFailed(.timedOut), &context, &out)
        case .awaiting: failed(attempt.isSent ? .responseTimeout : .bodyTimeout, &context, &out)
        case .delivering, .holding, .pacing:
            failed(
                ProxyError("http_response_timeout", status: 504, "the origin stopped in the middle of its response"),
                &context, &out)
        case .reading, .authenticating, .collecting, .deciding, .calling, .waiting, .intercepting, .tunnelling,
            .over:
            cut(reset: false, &out)
        }
    }

    /// Continues after a wait.
    mutating func resume(
        _ resumption: ExchangeStage.Resumption, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) {
        switch resumption {
        case .filter: break
        case .request:
            perform(requestPhase.resume(&attempt.limitPlaces, &info.log, out.now), &context, &out)
        case .lease: lease(&context, &out)
        case .replace(let replacement, let phase): replace(replacement, in: phase, &out)
        case .attempt: send(&context, &out)
        case .called(let answer): end(.called(answer), out.now)
        }
    }

    /// The client sends no more.
    /// - Parameter lacksBody: the client ended before the end of the request's body.
    mutating func clientEnded(lacksBody: Bool, _ out: inout CommandBuffer) {
        guard lacksBody else { return }
        switch stage.state {
        case .collecting, .awaiting, .delivering, .holding, .pacing: cut(reset: delivery.hasBegun, &out)
        // without a connection the body waits
        case .reading, .authenticating, .leasing, .deciding, .calling, .waiting, .intercepting, .tunnelling, .over:
            break
        }
    }

    /// Gives up a step-up or a retry when the client ends. It may be gone, but it may also have closed only its sending
    /// side and still wait for the response.
    /// - Returns: false when there is nothing to give up.
    mutating func giveUpWait(_ out: inout CommandBuffer) -> Bool {
        if case .waiting(.attempt) = stage.state {
            log.tell(.notRetried(interceptor: retries.last, "the client went away"), out.now)
        } else {
            guard noteAbandoned(out.now) else { return false }
        }
        cut(reset: false, &out)
        return true
    }

    /// The client is gone: ends a step-up that runs only for it.
    /// - Returns: false when none is under way.
    @discardableResult
    mutating func noteAbandoned(_ now: Int) -> Bool {
        guard filters?.endsWithClient == true else { return false }
        log.tell(.abandoned, now)
        return true
    }
}
