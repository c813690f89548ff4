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
    /// What the phase came to that asked for them; it is gone on with behind the last.
    let outcome: Outcome
    private var next = 0
    /// Its place where it waits.
    var turn: Turn?
    /// When it began to wait there, and when it gives up.
    private(set) var since = 0
    private(set) var until = 0

    init(_ outcome: Outcome) { self.outcome = outcome }

    /// The limit that it stands before.
    var wish: LimitWish? { next < outcome.limits.count ? outcome.limits[next] : nil }

    func passed() {
        next += 1
        turn = nil
    }

    func waits(_ turn: Turn, for time: Int, _ now: Int) {
        self.turn = turn
        since = now
        until = now + time
    }
}
