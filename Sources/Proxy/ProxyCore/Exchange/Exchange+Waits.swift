import HTTPCodec
import Interception
import Passwords

/// Continues after waits, and acts on timeouts.
extension Exchange {
    /// What an exchange may wait for beside the origin.
    enum Awaited {
        case password(PasswordVerdict)
        /// The result of code that runs off the loop.
        case code(SwiftAnswer)
        /// Its turn at a limit, a person's answer, or the result of another exchange.
        case ticket(WaitingTicket)
        /// The response to a filter's call.
        case response(HeldResponse)
        /// A filter's call has failed.
        case noResponse(String)
    }

    /// Continues after a wait. What comes late finds another stage and is ignored.
    mutating func came(_ awaited: Awaited, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch (awaited, info.stage.state) {
        case (.password(let verdict), .authenticating):
            perform(Reception.authenticated(verdict, &info, &context, &out), &context, &out)
        case (.code(let answer), .intercepting(let phase)):
            info.stage.enter(.deciding)
            switch phase.message {
            case .request(let head):
                perform(
                    requestPhase.resume(phase, answer, of: head, &info, &attempt, context, &out), &context, &out)
            case .response(let body, let point):
                perform(
                    responsePhase.resume(phase, answer, of: body, at: point, &info, &attempt, context, &out),
                    &context, &out)
            }
        case (.ticket(let ticket), .waiting(.request)) where requestPhase.awaits(ticket):
            resume(.request, &context, &out)
        case (.ticket(let ticket), .waiting(.filter)) where info.stage.awaits(ticket):
            _ = handled(.woke, &context, &out)
        case (.response(let held), .calling): if !handled(.answered(held), &context, &out) { cut(reset: true, &out) }
        case (.noResponse(let reason), .calling):
            if !handled(.failed(reason), &context, &out) { cut(reset: true, &out) }
        case (.password, _), (.code, _), (.ticket, _), (.response, _), (.noResponse, _): break
        }
    }

    private mutating func resume(
        _ resumption: ExchangeStage.Resumption, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) {
        switch resumption {
        case .filter: break
        case .request: perform(requestPhase.resume(&attempt.limitPlaces, &info, &out), &context, &out)
        case .lease: perform(attempt.lease(&info, &context, &out), &context, &out)
        case .replace(let replacement, let phase):
            responsePhase.replace(replacement, in: phase, &info, attempt, &out)
        case .attempt: send(&context, &out)
        case .called(let answer): info.end(.called(answer), out.now)
        }
    }

    // MARK: timeouts

    /// When `woke` must be called, if the client closed its side at that time.
    func wakeAt(clientEnded ended: Int?) -> Int {
        min(
            info.stage.deadline, info.halfClosedLimit(ended, hasAnswered: attempt.hasAnswered), uploadAt,
            attempt.wishes.answerLimit ?? .max)
    }

    /// When more of a paced request body may go out.
    private var uploadAt: Int { info.stage.awaitsResponse ? attempt.uploadAt : .max }

    /// Acts on the timeouts that are due.
    mutating func woke(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        if out.now >= uploadAt { attempt.sendUpload(&info, &out) }
        if let limit = attempt.wishes.answerLimit, out.now >= limit, limit <= info.stage.deadline {
            attempt.wishes.answerLimit = nil
            if let wish = attempt.wishes.timeout, info.stage.awaitsHead { failed(.missed(wish), &context, &out) }
        } else if out.now >= info.stage.deadline {
            timedOut(&context, &out)
        } else if out.now >= info.halfClosedLimit(context.endedAt, hasAnswered: attempt.hasAnswered) {
            // the client may still listen, so report the error
            answer(.clientHalfClosed, isLast: true, &out)
        }
    }

    private mutating func timedOut(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch info.stage.state {
        case .authenticating: return answer(PasswordGate.late, &out)
        case .collecting: return answer(.bodyTimeout, isLast: true, &out)
        case .reading, .tunnelling, .over: return
        case .pacing(let paced) where paced.next(out.now) != nil:
            return responsePhase.letThrough(paced, &info, attempt, &out)
        case .waiting(let resumption) where !resumption.isFilters:
            if filtersTimedOut(&context, &out) { return }
            return resume(resumption, &context, &out)
        case .intercepting(let phase):
            if filtersTimedOut(&context, &out) { return }
            return answer(.lateCode(phase.suspension.call), &out)
        case .leasing, .awaiting, .delivering, .holding, .pacing, .deciding, .calling, .waiting: break
        }
        if handled(.woke, &context, &out) { return }
        switch info.stage.state {
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

    /// Tells the filters if the time of their pending operation has passed.
    private mutating func filtersTimedOut(_ context: inout ClientContext, _ out: inout CommandBuffer) -> Bool {
        guard let limit = info.filters?.limit, out.now >= limit else { return false }
        if case .intercepting = info.stage.state { out.commands.append(.cancelIntercept(id)) }
        return handled(.woke, &context, &out)
    }

    // MARK: the client's side ends

    /// The client sends no more.
    /// - Parameter lacksBody: the client ended before the end of the request's body.
    mutating func clientEnded(lacksBody: Bool, _ out: inout CommandBuffer) {
        guard lacksBody else { return }
        switch info.stage.state {
        case .collecting, .awaiting, .delivering, .holding, .pacing:
            cut(reset: responsePhase.delivery.hasBegun, &out)
        // without a connection the body waits
        case .reading, .authenticating, .leasing, .deciding, .calling, .waiting, .intercepting, .tunnelling, .over:
            break
        }
    }

    /// Gives up a step-up or a retry when the client ends. It may be gone, but it may also have closed only its sending
    /// side and still wait for the response.
    /// - Returns: false when there is nothing to give up.
    mutating func giveUpWait(_ out: inout CommandBuffer) -> Bool {
        if case .waiting(.attempt) = info.stage.state {
            info.log.tell(.notRetried(interceptor: info.retries.last, "the client went away"), out.now)
        } else {
            guard info.noteAbandoned(out.now) else { return false }
        }
        cut(reset: false, &out)
        return true
    }
}
