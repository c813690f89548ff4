import HTTPCodec
import Interception

/// A response that Usher makes. The codec frames it like any other.
struct LocalResponse {
    var head: ResponseHead
    var body: [UInt8] = []
}

/// Sends Usher's own responses in place of the origin's.
extension Exchange {
    /// - Parameter isLast: Usher reads nothing from the client after this.
    mutating func answer(_ error: ProxyError, isLast: Bool = false, _ out: inout Outbox) {
        if call != nil {
            release(reusable: false, &out)
            return end(.notCalled(error.details), out.now)
        }
        log.tell(.failed(token: error.token, details: error.details), out.now)
        var error = error
        error.details = engine.redaction.text(error.details)
        // a step-up may have replaced the session before the failure, so pass on the new cookies
        for line in filters?.cookieLines ?? [] { error.fields.append(.init("Set-Cookie", line)) }
        answer(
            OwnResponse.error(error, flow: log.record.flow, to: request, date: out.date), isLast: isLast, &out)
    }

    /// - Parameter wait: in milliseconds, requested by an interceptor.
    mutating func answer(
        _ local: DirectResponse, interceptor: String, after wait: Int = 0, _ out: inout Outbox
    ) {
        if call != nil { return comeTo(HeldResponse(local), after: wait, &out) }
        if wait > 0 {
            release(reusable: false, &out)
            return pause(.answer(local, interceptor: interceptor), for: wait, &out)
        }
        let made = OwnResponse.local(local, interceptor: interceptor, flow: log.record.flow, date: out.date)
        if attempt.wishes.ending.isPlain { return answer(made, &out) }
        release(reusable: false, &out)
        response = made.head
        let manner = PacedResponse.Manner(
            cut: attempt.wishes.ending.cut, hold: log.held(attempt.wishes.ending, out.now))
        let framing = BodyFraming.length(UInt64(made.body.count))
        pace(PacedResponse(framing, manner, body: made.body, isWhole: true, isOwn: true, now: out.now), &out)
    }

    mutating func answer(_ local: LocalResponse, isLast: Bool = false, _ out: inout Outbox) {
        release(reusable: false, &out)
        delivery.send(local, to: received.head.method, isLast: isLast, &log, &out)
        complete(out.now)
    }
}
