import Addresses
import HTTPCodec
import Interception

/// Limits of interceptors: a request goes through them behind the request phase, waits there, or is refused.
extension Exchange {
    /// Goes on with what the request phase came to, once its limits let the request through.
    mutating func pass(_ passage: LimitPassage, _ context: inout ClientContext, _ out: inout Outbox) {
        guard let store = context.stores.limits else { return goOn(passage.outcome, &context, &out) }
        while let wish = passage.wish {
            let key = LimitKey(wish, subject: subject(of: wish.policy.scope, context))
            // it would wait for the one that waits for it
            if callersPlaces.contains(key) {
                passage.passed()
                continue
            }
            let (ticket, answer) = store.ask(key, wish.policy)
            let turn = ticket.map { Turn($0, at: key, store) }
            switch answer {
            case .go: enter(turn, passage)
            case .wait(let milliseconds):
                guard let turn else { return refuse(wish, nil, &context, &out) }
                tell(.queued(interceptor: wish.interceptor), out.now)
                passage.waits(turn, for: wish.policy.wait ?? 0, out.now)
                out.orders.append(.awaitTurn(id, turn.ticket))
                return wait(in: passage, milliseconds, &out)
            case .refused(let milliseconds): return refuse(wish, milliseconds, &context, &out)
            }
        }
        goOn(passage.outcome, &context, &out)
    }

    /// Time has passed for a request that waits for its turn, or that has come.
    mutating func lookForTurn(_ passage: LimitPassage, _ context: inout ClientContext, _ out: inout Outbox) {
        guard let wish = passage.wish, let turn = passage.turn else { return goOn(passage.outcome, &context, &out) }
        switch turn.look() {
        case .go:
            tell(.admitted(interceptor: wish.interceptor, milliseconds: out.now - passage.since), out.now)
            enter(turn, passage)
            pass(passage, &context, &out)
        case .wait(let milliseconds):
            if out.now < passage.until { return wait(in: passage, milliseconds, &out) }
            refuse(wish, milliseconds, &context, &out)
        case .refused(let milliseconds): refuse(wish, milliseconds, &context, &out)
        }
    }

    /// The turn of a request that waits has come.
    mutating func turnCame(_ context: inout ClientContext, _ out: inout Outbox) {
        guard case .waiting(.turn(let passage)) = stage else { return }
        lookForTurn(passage, &context, &out)
    }

    var awaitsTurn: Bool { if case .waiting(.turn) = stage { true } else { false } }

    private mutating func enter(_ turn: Turn?, _ passage: LimitPassage) {
        if let turn { attempt.turns.append(turn) }
        passage.passed()
    }

    private mutating func wait(in passage: LimitPassage, _ milliseconds: Int?, _ out: inout Outbox) {
        let time = bounded(min(passage.until, milliseconds.map { out.now + $0 } ?? .max))
        enter(.waiting(.turn(passage)), until: time)
        out.orders.append(.wake(at: time))
    }

    /// What is counted together with this request.
    private func subject(of scope: LimitPolicy.Scope, _ context: ClientContext) -> String {
        switch scope {
        case .all: ""
        case .host: (attempt.head ?? request).host
        case .action: classification?.action?.rawValue ?? ""
        case .client: sender(context).text
        }
    }

    private mutating func refuse(
        _ wish: LimitWish, _ milliseconds: Int?, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        let details = "interceptor \(wish.interceptor) lets no more through than \(wish.policy.words)"
        tell(.refused(interceptor: wish.interceptor, wish.policy.words), out.now)
        // nothing of what it has is needed any more
        attempt.turns = []
        if isCall { return end(.notCalled(details), out.now) }
        enter(.deciding)
        if filtersFailed(details, &context, &out) { return }
        var error = ProxyError("http_request_denied", status: wish.policy.status, details)
        // in whole seconds, and where nobody knows the least of them
        error.fields = [.init("Retry-After", "\(((milliseconds ?? 1) + 999) / 1000)")]
        answer(error, &out)
    }
}
