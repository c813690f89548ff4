import HTTPCodec
import Interception

/// Carries out the actions of filters.
extension Exchange {
    /// Tells the filter that has something pending about an event.
    /// - Returns: false when no filter handles it.
    mutating func handled(_ event: FilterEvent, _ context: inout ClientContext, _ out: inout CommandBuffer) -> Bool {
        guard info.filters?.isHolding == true,
            let action = info.ask(attempt, context, out, { $0.event(event, &$1) })
        else { return false }
        if case .woke = event, case .calling = info.stage.state, case .proceed = action {
            // end the call that took too long before asking for a connection
            info.wait(.lease, until: out.now + 1, &out)
        } else {
            perform(action, &context, &out)
        }
        return true
    }

    mutating func perform(_ action: FilterAction, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        requestPhase.giveUpWait()
        switch action {
        case .deliver(let held): deliver(held, &context, &out)
        case .giveBack(let original):
            info.release(reusable: false, &out)
            attempt.forget()
            attempt.isBinding = false
            info.log.capture.forgetAnswer()
            deliver(original, &context, &out)
        case .call(let call):
            let limit = info.filters?.limit ?? .max
            info.stage.enter(.calling(until: limit), until: limit)
            out.clientCommands.append(.call(call))
        case .wait(let time): info.wait(.filter(nil), until: info.bounded(time), &out)
        case .waitFor(let ticket, let time):
            out.commands.append(.awaitTicket(id, ticket))
            // another filter's limit is no reason to stop asking a person
            info.wait(.filter(ticket), until: ticket.kind == .person ? time : info.bounded(time), &out)
        case .proceed, .hold: perform(attempt.lease(&info, &context, &out), &context, &out)
        case .refuse(let error):
            info.release(reusable: false, &out)
            answer(error, &out)
        case .again(let held):
            let limit = engine.settings.limits.retries
            guard info.retries.total < limit else {
                info.log.tell(
                    .notRetried(interceptor: nil, "limits.retries allows \(limit) further attempts"), out.now)
                return deliver(held, &context, &out)
            }
            info.retries.enterUnasked()
            info.release(reusable: false, &out)
            attempt.renew()
            send(&context, &out)
        case .replace(let head, let bytes): send(head, bytes, &context, &out)
        case .attempt(let head, let bytes):
            info.release(reusable: false, &out)
            info.log.tell(.replayed(method: head.methodText, url: engine.redaction.url(of: head)), out.now)
            send(head, bytes, &context, &out)
        }
    }

    private mutating func deliver(_ held: HeldResponse, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        perform(responsePhase.deliver(held, &info, &attempt, context, &out), &context, &out)
    }

    /// Sends a filter's version of the request.
    private mutating func send(
        _ head: RequestHead, _ body: [UInt8], _ context: inout ClientContext, _ out: inout CommandBuffer
    ) {
        attempt.basis = (head, body)
        attempt.renew()
        send(&context, &out)
    }
}
