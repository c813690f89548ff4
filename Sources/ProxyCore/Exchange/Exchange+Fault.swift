import HTTPCodec
import Interception

/// What interceptors break: nothing else puts bytes on the wire that are no valid HTTP, and these go to clients alone.
extension Exchange {
    /// The client gets that in the place of an answer, and nothing after it.
    /// - Parameter wait: in milliseconds, at an interceptor's wish.
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
        if !bytes.isEmpty { out.replies.append(.raw(bytes)) }
        end(.closed, out.now)
    }

    /// The body of the answer ends here, though more of it was announced.
    mutating func breaksOff(_ cut: AnswerEnding.Cut, _ out: inout Outbox) {
        release(reusable: false, &out)
        log.tell(.cutShort(cut), out.now)
        end(cut.resets ? .cut(reset: true) : .closed, out.now)
    }
}
