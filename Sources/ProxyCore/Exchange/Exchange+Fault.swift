import HTTPCodec
import Interception

/// Faults that interceptors inject: the only invalid HTTP that Usher writes, and only to clients.
extension Exchange {
    /// Sends the client the fault in place of a response, and nothing after it.
    /// - Parameter wait: in milliseconds, requested by an interceptor.
    mutating func breaks(
        _ breakage: Breakage, interceptor: String, after wait: Int = 0, _ out: inout Outbox
    ) {
        release(reusable: false, &out)
        if wait > 0 { return pause(.breaks(breakage, interceptor: interceptor), for: wait, &out) }
        if call != nil {
            let what = attempt.hasAnswered ? "the answer to the call" : "the call"
            return end(.notCalled("interceptor \(interceptor) broke \(what): \(breakage.rawValue)"), out.now)
        }
        log.tell(.broken(interceptor: interceptor, breakage), out.now)
        guard breakage != .reset else { return end(.cut(reset: true), out.now) }
        var chance = engine.chance
        let bytes = BrokenAnswer.bytes(breakage, &chance)
        delivery.send(broken: bytes, &out)
        end(.closed, out.now)
    }

    /// Cuts the body of the response short of its announced length.
    mutating func breaksOff(_ cut: AnswerEnding.Cut, _ out: inout Outbox) {
        release(reusable: false, &out)
        log.tell(.cutShort(cut), out.now)
        end(cut.resets ? .cut(reset: true) : .closed, out.now)
    }
}
