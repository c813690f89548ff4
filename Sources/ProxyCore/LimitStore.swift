public import Interception

/// Whose turn it is at the limits of interceptors. One for each loop, in front of what all of them share; asked only where a
/// limit applies.
public protocol LimitStore: AnyObject {
    /// A request has come.
    /// - Returns: its place, unless it was refused.
    func ask(_ key: LimitKey, _ policy: LimitPolicy) -> (ticket: LimitTicket?, answer: LimitAnswer)
    /// Whether its turn has come.
    func look(_ ticket: LimitTicket) -> LimitAnswer
    /// It is over, or does not wait any more.
    func leave(_ ticket: LimitTicket)
}

/// A place at a limit: whoever has it is under way, or waits. It is given up with the last reference, however that goes.
final class Turn {
    let ticket: LimitTicket
    let key: LimitKey
    private let store: any LimitStore

    init(_ ticket: LimitTicket, at key: LimitKey, _ store: any LimitStore) {
        self.ticket = ticket
        self.key = key
        self.store = store
    }

    deinit { store.leave(ticket) }

    func look() -> LimitAnswer { store.look(ticket) }
}

/// A request on its way through limits, one after another.
final class LimitPassage {
    /// What counts together with the request at a limit.
    struct Subject {
        let host: String
        let action: Action?
        let sender: RequestSender

        func text(of scope: LimitPolicy.Scope) -> String {
            switch scope {
            case .all: ""
            case .host: host
            case .action: action?.rawValue ?? ""
            case .client: sender.text
            }
        }
    }

    enum Step {
        /// Every limit has let it through.
        case through
        /// It looks again then, or once its turn has come.
        case waits(until: Int)
        /// It goes no further.
        /// - Parameter milliseconds: after which it might; nil where nobody knows.
        case refused(LimitWish, milliseconds: Int?)
    }

    /// What the phase came to that asked for them; it is gone on with behind the last.
    let outcome: Outcome
    private let subject: Subject
    /// The limits at which its caller has a place: it would wait for the one that waits for it.
    private let places: [LimitKey]
    private var next = 0
    /// Its place where it waits.
    private(set) var turn: Turn?
    /// When it began to wait there, and when it gives up.
    private var since: Int?
    private var until = 0

    init(_ outcome: Outcome, _ subject: Subject, besides places: [LimitKey]) {
        self.outcome = outcome
        self.subject = subject
        self.places = places
    }

    /// Goes as far as it may by now.
    /// - Parameter turns: the places that it has got.
    func advance(_ store: any LimitStore, _ turns: inout [Turn], _ log: inout ExchangeLog, _ now: Int) -> Step {
        while next < outcome.limits.count {
            let wish = outcome.limits[next]
            switch turn?.look() ?? ask(store, wish) {
            case .go:
                if let turn { turns.append(turn) }
                if let since { log.tell(.admitted(interceptor: wish.interceptor, milliseconds: now - since), now) }
                passed()
            case .wait(let milliseconds):
                guard turn != nil else { return .refused(wish, milliseconds: nil) }
                if since == nil {
                    since = now
                    until = now + (wish.policy.wait ?? 0)
                    log.tell(.queued(interceptor: wish.interceptor), now)
                } else if now >= until {
                    return .refused(wish, milliseconds: milliseconds)
                }
                return .waits(until: min(until, milliseconds.map { now + $0 } ?? .max))
            case .refused(let milliseconds): return .refused(wish, milliseconds: milliseconds)
            }
        }
        return .through
    }

    private func ask(_ store: any LimitStore, _ wish: LimitWish) -> LimitAnswer {
        let key = LimitKey(wish, subject: subject.text(of: wish.policy.scope))
        if places.contains(key) { return .go }
        let (ticket, answer) = store.ask(key, wish.policy)
        turn = ticket.map { Turn($0, at: key, store) }
        return answer
    }

    private func passed() {
        next += 1
        turn = nil
        since = nil
    }
}
