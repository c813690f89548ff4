import HTTPCodec
import Interception

/// Leads from the origin's events to the response that the client, a filter or the caller gets.
extension Exchange {
    /// Handles an event at the origin's side. A late one finds another stage and is ignored.
    mutating func came(_ event: OriginEvent, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        perform(attempt.came(event, &responsePhase.head, &info, &context, &out), &context, &out)
    }

    mutating func perform(_ step: Attempt.Step, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch step {
        case .nothing: break
        case .act(let action): perform(action, &context, &out)
        case .refuse(let error): answer(error, &out)
        case .interim(let head): responsePhase.delivery.interim(head, isOwn: false, &out)
        case .head(let framing):
            perform(responsePhase.begin(framing, &info, &attempt, context, &out), &context, &out)
        case .switchProtocol:
            perform(responsePhase.switchProtocol(&info, &attempt, context, &out), &context, &out)
        case .sendAgain:
            info.retries.enterUnasked()
            info.release(reusable: false, &out)
            perform(attempt.lease(by: .new, &info, &context, &out), &context, &out)
        case .stop(let error): stop(error, &out)
        case .failed(let error): failed(error, &context, &out)
        }
    }

    mutating func perform(_ step: ResponsePhase.Step, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch step {
        case .nothing, .passes: break
        case .act(let action): perform(action, &context, &out)
        case .fail(let error): failed(error, &context, &out)
        }
    }

    /// The exchange failed at the origin: reports the error to the client, the filters or the caller.
    mutating func failed(_ error: ProxyError, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        if handled(.failed(error.details), &context, &out) { return }
        if responsePhase.delivery.hasBegun {
            info.log.tell(.failed(token: error.token, details: error.details), out.now)
            return cut(reset: true, &out)
        }
        guard engine.plan.hasErrorRules, info.terms.hasClient, let fault = error.fault else {
            return answer(error, &out)
        }
        let outcome = info.intercept(fault, to: attempt, out)
        if let replacement = Replacement(outcome.verdict) {
            info.log.tell(.failed(token: error.token, details: error.details), out.now)
            responsePhase.replace(replacement, in: .error, &info, attempt, &out)
        } else if outcome.retries.isEmpty
            || !attempt.again(
                outcome.retries, after: response, &info, clientHasEnded: context.hasEnded, &out)
        {
            answer(error, &out)
        }
    }

    // MARK: the body

    /// Part of the response has arrived.
    mutating func answering(_ now: Int) {
        attempt.hasAnswered = true
        switch info.stage.state {
        case .delivering, .holding: info.stage.wait(until: info.bounded(now + engine.settings.timeouts.idle))
        default: break
        }
    }

    /// Handles body bytes from the origin.
    mutating func responseBodyCame(
        _ bytes: Span<UInt8>, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) -> BodyDisposition {
        let step = responsePhase.bodyCame(bytes, &info, &attempt, context, &out)
        if case .passes = step { return .pass }
        perform(step, &context, &out)
        return .used
    }

    /// Counts body bytes that were relayed straight from the origin to the client.
    mutating func responseBodyPassed(_ count: UInt64) {
        info.log.record.responseBytes += count
        info.log.capture.responsePassed()
    }

    /// Handles the end of the response.
    /// - Parameter trailers: trailer fields, each line with its line end.
    mutating func responseEnded(trailers: [UInt8], _ context: inout ClientContext, _ out: inout CommandBuffer) {
        perform(responsePhase.ended(trailers: trailers, &info, &attempt, context, &out), &context, &out)
    }

    // MARK: the end

    /// - Parameter isLast: Usher reads nothing from the client after this.
    mutating func answer(_ error: ProxyError, isLast: Bool = false, _ out: inout CommandBuffer) {
        responsePhase.answer(error, isLast: isLast, &info, &out)
    }

    /// Ends the exchange without a complete response.
    mutating func cut(reset: Bool, _ out: inout CommandBuffer) {
        info.cut(reset: reset, &out)
        finish()
    }
}
