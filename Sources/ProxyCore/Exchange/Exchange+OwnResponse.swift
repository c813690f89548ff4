import HTTPCodec
import Interception

/// A response that Usher makes. The codec frames it like any other.
struct LocalResponse {
    var head: ResponseHead
    var body: [UInt8] = []
}

/// Sends Usher's own responses, and what interceptors have in the place of a message. A call ends with them.
extension Exchange {
    /// - Parameter isLast: Usher reads nothing from the client after this.
    mutating func answer(_ error: ProxyError, isLast: Bool = false, _ out: inout CommandBuffer) {
        if call != nil {
            release(reusable: false, &out)
            return end(.notCalled(error.details), out.now)
        }
        log.tell(.failed(token: error.token, details: error.details), out.now)
        // a step-up may have replaced the session before the failure, so pass on the new cookies
        answer(
            OwnResponse.error(error, to: info, cookies: filters?.cookieLines ?? [], date: out.date), isLast: isLast,
            &out)
    }

    mutating func answer(_ local: LocalResponse, isLast: Bool = false, _ out: inout CommandBuffer) {
        release(reusable: false, &out)
        delivery.send(local, to: info.received.head.method, isLast: isLast, &info.log, &out)
        end(.complete, out.now)
    }

    /// - Parameter wait: in milliseconds, requested by an interceptor.
    mutating func replace(
        _ replacement: Replacement, in phase: PhaseJudgement.Phase, after wait: Int = 0, _ out: inout CommandBuffer
    ) {
        switch replacement {
        case .respond(let local, _) where call != nil: return comeTo(HeldResponse(local), after: wait, &out)
        case .abort(let interceptor, let reason):
            return answer(.aborted(phase, by: interceptor, reason, info.terms), &out)
        case .respond, .breaks: break
        }
        if wait > 0 {
            release(reusable: false, &out)
            return self.wait(.replace(replacement, phase), until: out.now + wait, &out)
        }
        switch replacement {
        case .respond(let local, let interceptor): respond(local, interceptor: interceptor, &out)
        case .breaks(let breakage, let interceptor): breaks(breakage, interceptor: interceptor, &out)
        case .abort: break
        }
    }

    private mutating func respond(_ local: DirectResponse, interceptor: String, _ out: inout CommandBuffer) {
        let made = OwnResponse.local(local, interceptor: interceptor, flow: log.record.flow, date: out.date)
        if attempt.wishes.ending.isPlain { return answer(made, &out) }
        release(reusable: false, &out)
        response = made.head
        let manner = PacedResponse.Manner(
            cut: attempt.wishes.ending.cut, hold: info.log.held(attempt.wishes.ending, out.now))
        let framing = BodyFraming.length(UInt64(made.body.count))
        pace(PacedResponse(framing, manner, body: made.body, isWhole: true, isOwn: true, now: out.now), &out)
    }

    /// Sends the client a fault in place of a response, and nothing after it: the only invalid HTTP that Usher writes.
    private mutating func breaks(_ breakage: Breakage, interceptor: String, _ out: inout CommandBuffer) {
        release(reusable: false, &out)
        if call != nil {
            let what = attempt.hasAnswered ? "the response to the call" : "the call"
            return end(.notCalled("interceptor \(interceptor) broke \(what): \(breakage.rawValue)"), out.now)
        }
        log.tell(.broken(interceptor: interceptor, breakage), out.now)
        guard breakage != .reset else { return end(.cut(reset: true), out.now) }
        var chance = engine.chance
        delivery.send(broken: BrokenAnswer.bytes(breakage, &chance), &out)
        end(.closed, out.now)
    }

    /// Ends the call with this response, after any delay or truncation by interceptors.
    /// - Parameter wait: in milliseconds.
    mutating func comeTo(_ answer: HeldResponse, after wait: Int, _ out: inout CommandBuffer) {
        if let cut = attempt.wishes.ending.cut, cut.bytes < answer.body.count {
            return end(
                .notCalled("interceptors cut the response to the call after \(cut.bytes) bytes"), out.now)
        }
        let wait = wait + info.log.held(attempt.wishes.ending, out.now)
        if wait > 0 { return self.wait(.called(answer), until: out.now + wait, &out) }
        end(.called(answer), out.now)
    }
}
