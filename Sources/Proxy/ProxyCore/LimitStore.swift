public import Interception

/// The queues at the limits of interceptors. Each loop has one, in front of the shared state; called only if a
/// limit applies.
public protocol LimitStore: AnyObject {
    /// Adds a request.
    /// - Returns: the request's ticket, unless it was refused.
    func ask(_ key: LimitKey, _ policy: LimitPolicy) -> (ticket: WaitingTicket?, answer: LimitAnswer)
    /// Whether it is the ticket's turn.
    func look(_ ticket: WaitingTicket) -> LimitAnswer
    /// Removes a request that is over or no longer waits.
    func leave(_ ticket: WaitingTicket)
}

/// A place at a limit: its holder is under way, or waits. The last reference gives it up.
final class LimitPlace {
    let ticket: WaitingTicket
    let key: LimitKey
    private let store: any LimitStore

    init(_ ticket: WaitingTicket, at key: LimitKey, _ store: any LimitStore) {
        self.ticket = ticket
        self.key = key
        self.store = store
    }

    deinit { store.leave(ticket) }

    func look() -> LimitAnswer { store.look(ticket) }
}

/// A request's passage through its limits, one after another.
final class LimitPassage {
    /// The properties of a request by which a limit counts.
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
        /// All limits have admitted the request.
        case through
        /// The request waits: it checks again at that time, or when its turn comes.
        case waits(until: Int)
        /// A limit refuses the request.
        /// - Parameter milliseconds: the time until a retry may pass; nil when unknown.
        case refused(LimitWish, milliseconds: Int?)
    }

    /// The phase outcome that asked for the limits. It is acted on after the last limit.
    let outcome: Outcome
    private let subject: Subject
    private let store: any LimitStore
    /// The counts of all clients.
    private let shared: any LimitStore
    /// The limits at which the caller holds a place: waiting there would be a deadlock.
    private let places: [LimitKey]
    private var next = 0
    /// The request's place at the limit where it waits.
    private(set) var place: LimitPlace?
    /// When the wait there began; `until` is when it gives up.
    private var since: Int?
    private var until = 0

    init(
        _ outcome: Outcome, _ subject: Subject, in store: any LimitStore, shared: any LimitStore,
        besides places: [LimitKey]
    ) {
        self.shared = shared
        self.outcome = outcome
        self.subject = subject
        self.store = store
        self.places = places
    }

    /// Passes as many limits as admit the request now.
    /// - Parameter turns: receives the places obtained.
    func advance(_ limitPlaces: inout [LimitPlace], _ log: inout ExchangeLog, _ now: Int) -> Step {
        while next < outcome.limits.count {
            let wish = outcome.limits[next]
            switch place?.look() ?? ask(wish) {
            case .go:
                if let place { limitPlaces.append(place) }
                if let since { log.tell(.admitted(interceptor: wish.interceptor, milliseconds: now - since), now) }
                passed()
            case .wait(let milliseconds):
                guard place != nil else { return .refused(wish, milliseconds: nil) }
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

    private func ask(_ wish: LimitWish) -> LimitAnswer {
        let key = LimitKey(wish, subject: subject.text(of: wish.policy.scope))
        if wish.policy.mayWait, places.contains(key) { return .go }
        let store = wish.isOfEnvironment ? shared : store
        let (ticket, answer) = store.ask(key, wish.policy)
        place = ticket.map { LimitPlace($0, at: key, store) }
        return answer
    }

    private func passed() {
        next += 1
        place = nil
        since = nil
    }
}
