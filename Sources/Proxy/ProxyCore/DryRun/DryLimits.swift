import Interception

/// The limits of a dry run. The only other requests are those that the caller asks for.
final class DryLimits: LimitStore {
    var now = 0
    /// The number of earlier requests that each limit counts as still under way.
    private let others: Int
    /// The earlier requests that wait, each with its next time to ask.
    private var waiting: [(ticket: WaitingTicket, due: Int)] = []
    private var ledger = LimitLedger<Void>()
    private var known: Set<LimitKey> = []

    init(others: Int) { self.others = others }

    func ask(_ key: LimitKey, _ policy: LimitPolicy) -> (ticket: WaitingTicket?, answer: LimitAnswer) {
        if known.insert(key).inserted {
            for _ in 0..<others {
                let other = ledger.ask(key, policy, (), now: now)
                guard let ticket = other.ticket, case .wait(let milliseconds?) = other.answer else { continue }
                waiting.append((ticket, now + milliseconds))
            }
        }
        let asked = ledger.ask(key, policy, (), now: now)
        return (asked.ticket, asked.answer)
    }

    func look(_ ticket: WaitingTicket) -> LimitAnswer {
        // earlier requests ask first, each at its time
        for (index, other) in waiting.enumerated() {
            var due = other.due
            while due <= now {
                if case .wait(let milliseconds?) = ledger.look(other.ticket, now: due).answer {
                    due += max(1, milliseconds)
                } else {
                    due = .max
                }
            }
            waiting[index].due = due
        }
        return ledger.look(ticket, now: now).answer
    }

    func leave(_ ticket: WaitingTicket) { _ = ledger.leave(ticket, now: now) }
}
