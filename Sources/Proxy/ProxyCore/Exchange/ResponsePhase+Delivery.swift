import HTTPCodec
import Interception

/// A response that Usher makes. The codec frames it like any other.
struct LocalResponse {
    var head: ResponseHead
    var body: [UInt8] = []
}

/// Sends the client its response, at the pace that interceptors wish, or what takes its place. A call ends with it.
extension ResponsePhase {
    /// Sends a response that is edited.
    /// - Parameters:
    ///   - body: the part of the body that is here; nil if the response was not held.
    ///   - isWhole: that is the whole body.
    mutating func relay(
        _ outcome: Outcome, _ framing: BodyFraming, body: [UInt8]?, isWhole: Bool, _ info: inout ExchangeInfo,
        _ attempt: borrowing Attempt, _ out: inout CommandBuffer
    ) {
        let chunk = isWhole && body?.isEmpty == false ? outcome.chunk : nil
        let framing = chunk == nil ? framing : .chunked
        let manner = attempt.pace(outcome, &info.log, out.now)
        guard manner.isPlain else {
            let paced = PacedResponse(framing, manner, body: body ?? [], isWhole: isWhole, now: out.now)
            return pace(paced, &info, attempt, &out)
        }
        delivery.begin(&head, framing, attempt, info.filters, &info.log, &out)
        if let body { delivery.send(body, inPieces: chunk, &out) }
        guard isWhole else { return }
        delivery.end(trailers: [], &out)
        info.end(.complete, out.now)
    }

    private mutating func pace(
        _ paced: PacedResponse, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt, _ out: inout CommandBuffer
    ) {
        info.stage.enter(.pacing(paced))
        letThrough(paced, &info, attempt, &out)
    }

    /// Sends the part of a paced response that is due.
    mutating func letThrough(
        _ paced: PacedResponse, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt, _ out: inout CommandBuffer
    ) {
        let idle = out.now + info.engine.settings.timeouts.idle
        switch delivery.send(dueOf: paced, &head, attempt, info.filters, &info.log, &out) {
        case .waits(let time):
            info.stage.wait(until: time)
            out.commands.append(.wake(at: time))
        case .lacks: info.stage.wait(until: idle)
        case .passes: info.stage.enter(.delivering, until: idle)
        case .ends: info.end(.complete, out.now)
        case .breaksOff(let cut):
            // the body ends short of its announced length
            info.release(reusable: false, &out)
            info.log.tell(.cutShort(cut), out.now)
            info.end(cut.resets ? .cut(reset: true) : .closed, out.now)
        }
    }

    // MARK: Usher's own responses

    /// - Parameter isLast: Usher reads nothing from the client after this.
    mutating func answer(
        _ error: ProxyError, isLast: Bool = false, _ info: inout ExchangeInfo, _ out: inout CommandBuffer
    ) {
        if info.call != nil {
            info.release(reusable: false, &out)
            return info.end(.notCalled(error.details), out.now)
        }
        info.log.tell(.failed(token: error.token, details: error.details), out.now)
        // a step-up may have replaced the session before the failure, so pass on the new cookies
        let cookies = info.filters?.cookieLines ?? []
        answer(OwnResponse.error(error, to: info, cookies: cookies, date: out.date), isLast: isLast, &info, &out)
    }

    mutating func answer(
        _ local: LocalResponse, isLast: Bool = false, _ info: inout ExchangeInfo, _ out: inout CommandBuffer
    ) {
        info.release(reusable: false, &out)
        delivery.send(local, to: info.received.head.method, isLast: isLast, &info.log, &out)
        info.end(.complete, out.now)
    }

    // MARK: what interceptors have in the place of a message

    /// - Parameter wait: in milliseconds, requested by an interceptor.
    mutating func replace(
        _ replacement: Replacement, in phase: PhaseJudgement.Phase, after wait: Int = 0, _ info: inout ExchangeInfo,
        _ attempt: borrowing Attempt, _ out: inout CommandBuffer
    ) {
        switch replacement {
        case .respond(let local, _) where info.call != nil:
            return endCall(HeldResponse(local), after: wait, &info, attempt, &out)
        case .abort(let interceptor, let reason):
            return answer(.aborted(phase, by: interceptor, reason, info.terms), &info, &out)
        case .forbid(let reason): return answer(.forbidden(by: reason), &info, &out)
        case .respond, .breaks: break
        }
        if wait > 0 {
            info.release(reusable: false, &out)
            return info.wait(.replace(replacement, phase), until: out.now + wait, &out)
        }
        switch replacement {
        case .respond(let local, let interceptor): respond(local, interceptor: interceptor, &info, attempt, &out)
        case .breaks(let breakage, let interceptor): breaks(breakage, interceptor: interceptor, &info, attempt, &out)
        case .abort, .forbid: break
        }
    }

    private mutating func respond(
        _ local: DirectResponse, interceptor: String, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt,
        _ out: inout CommandBuffer
    ) {
        let made = OwnResponse.local(local, interceptor: interceptor, flow: info.log.record.flow, date: out.date)
        let ending = attempt.wishes.ending
        if ending.isPlain { return answer(made, &info, &out) }
        info.release(reusable: false, &out)
        head = made.head
        let manner = PacedResponse.Manner(cut: ending.cut, hold: info.log.held(ending, out.now))
        let framing = BodyFraming.length(UInt64(made.body.count))
        let paced = PacedResponse(framing, manner, body: made.body, isWhole: true, isOwn: true, now: out.now)
        pace(paced, &info, attempt, &out)
    }

    /// Sends the client a fault in place of a response, and nothing after it: the only invalid HTTP that Usher writes.
    private mutating func breaks(
        _ breakage: Breakage, interceptor: String, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt,
        _ out: inout CommandBuffer
    ) {
        info.release(reusable: false, &out)
        if info.call != nil {
            let what = attempt.hasAnswered ? "the response to the call" : "the call"
            return info.end(.notCalled("interceptor \(interceptor) broke \(what): \(breakage.rawValue)"), out.now)
        }
        info.log.tell(.broken(interceptor: interceptor, breakage), out.now)
        guard breakage != .reset else { return info.end(.cut(reset: true), out.now) }
        var chance = info.engine.chance
        delivery.send(broken: BrokenAnswer.bytes(breakage, &chance), &out)
        info.end(.closed, out.now)
    }

    /// Ends the call with this response, after any delay or truncation by interceptors.
    /// - Parameter wait: in milliseconds.
    mutating func endCall(
        _ answer: HeldResponse, after wait: Int, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt,
        _ out: inout CommandBuffer
    ) {
        if let cut = attempt.wishes.ending.cut, cut.bytes < answer.body.count {
            let reason = "interceptors cut the response to the call after \(cut.bytes) bytes"
            return info.end(.notCalled(reason), out.now)
        }
        let wait = wait + info.log.held(attempt.wishes.ending, out.now)
        if wait > 0 { return info.wait(.called(answer), until: out.now + wait, &out) }
        info.end(.called(answer), out.now)
    }
}
