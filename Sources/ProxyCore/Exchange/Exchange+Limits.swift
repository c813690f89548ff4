import Addresses
import HTTPCodec
import Interception

/// Limits of interceptors: after the request phase a request passes them, waits, or is refused.
extension Exchange {
    /// Continues with the outcome of the request phase once the limits admit the request.
    mutating func pass(_ outcome: Outcome, _ context: inout ClientContext, _ out: inout Outbox) {
        let subject = LimitPassage.Subject(
            host: sentHead.host, action: classification?.action,
            sender: RequestSender(address: context.source.address, user: log.record.user))
        advance(LimitPassage(outcome, subject, besides: callersPlaces), &context, &out)
    }

    /// Rechecks a request that waits at a limit or has just reached one.
    mutating func advance(_ passage: LimitPassage, _ context: inout ClientContext, _ out: inout Outbox) {
        guard let store = context.stores.limits else { return goOn(passage.outcome, &context, &out) }
        let waiting = passage.turn
        switch passage.advance(store, &attempt.turns, &log, out.now) {
        case .through: goOn(passage.outcome, &context, &out)
        case .waits(let time):
            if let turn = passage.turn, turn !== waiting { out.orders.append(.awaitTurn(id, turn.ticket)) }
            let time = bounded(time)
            enter(.waiting(.turn(passage)), until: time)
            out.orders.append(.wake(at: time))
        case .refused(let wish, let milliseconds): refuse(wish, milliseconds, &context, &out)
        }
    }

    /// It is the turn of a request that waits at a limit.
    mutating func turnCame(_ context: inout ClientContext, _ out: inout Outbox) {
        guard case .waiting(.turn(let passage)) = stage else { return }
        advance(passage, &context, &out)
    }

    var awaitsTurn: Bool { if case .waiting(.turn) = stage { true } else { false } }

    private mutating func refuse(
        _ wish: LimitWish, _ milliseconds: Int?, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        let details = "interceptor \(wish.interceptor) lets no more through than \(wish.policy.words)"
        log.tell(.refused(interceptor: wish.interceptor, wish.policy.words), out.now)
        // the request is refused, so free its places
        attempt.turns = []
        enter(.deciding)
        if filtersFailed(details, &context, &out) { return }
        var error = ProxyError("http_request_denied", status: wish.policy.status, details)
        // in whole seconds, rounded up; 1 when the time is unknown
        error.fields = [.init("Retry-After", "\(((milliseconds ?? 1) + 999) / 1000)")]
        answer(error, &out)
    }
}
