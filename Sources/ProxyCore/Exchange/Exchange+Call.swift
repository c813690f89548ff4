import Authorization
import HTTPCodec
import Interception

/// An exchange for a filter's call. It runs like any exchange, but without filters, and gives its result to the filter that made
/// the call.
extension Exchange {
    mutating func beginCall(_ context: inout ClientContext, _ out: inout Outbox) {
        guard let made = call else { return }
        request = made.call.head
        // the classifier and the rules look only at the head to see whether there is a body
        request.fields.set("Content-Length", String(made.call.body.count))
        // the caller knows the Action, and a call needs no lookup of the flow that it belongs to
        classification = engine.classifier.own(request, made.call.action, made.call.payload)
        log.tell(made.told(engine.redaction.url(of: request)), out.now)
        received.body.keep(made.call.body)
        runRequestPhase(&context, &out)
    }

    /// Ends the call with this response, after any delay or truncation by interceptors.
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
