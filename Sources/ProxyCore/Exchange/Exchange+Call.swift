import Authorization
import HTTPCodec
import Interception

/// An exchange that is a filter's call: it goes the way of all exchanges, but no filter sees it, and what it comes to goes to the
/// filter that made it.
extension Exchange {
    mutating func beginCall(_ context: inout ClientContext, _ out: inout Outbox) {
        guard let made = call else { return }
        request = made.call.head
        // the classifier, and rules, look at the head alone to see whether there is a body
        request.fields.set("Content-Length", String(made.call.body.count))
        // whoever makes it knows what it is, and nobody else has to know whose flow it belongs to
        classification = engine.classifier.own(request, made.call.action, made.call.payload)
        log.tell(made.told(engine.redaction.url(of: request)), out.now)
        body.bytes = made.call.body
        body.isKept = true
        body.hasEnded = true
        editAndLease(&context, &out)
    }

    /// The call has come to this, as late and as whole as interceptors have it.
    /// - Parameter wait: in milliseconds.
    mutating func comeTo(_ answer: HeldResponse, after wait: Int, _ out: inout Outbox) {
        if let cut = attempt.wishes.ending.cut, cut.bytes < answer.body.count {
            return end(
                .notCalled("interceptors had the answer to the call break off after \(cut.bytes) bytes"), out.now)
        }
        let wait = wait + log.held(attempt.wishes.ending, out.now)
        if wait > 0 { return pause(.called(answer), for: wait, &out) }
        end(.called(answer), out.now)
    }
}
