import Interception

/// Limits of a request that is run without a network: nobody else is there but whom one asks to think of.
final class DryLimits: LimitStore {
    var now = 0
    /// So many requests came just before it, wherever it is counted, and are not over.
    private let others: Int
    /// Those of them that wait, and when each looks for its turn.
    private var waiting: [(ticket: LimitTicket, due: Int)] = []
    private var ledger = LimitLedger<Void>()
    private var known: Set<LimitKey> = []

    init(others: Int) { self.others = others }

    func ask(_ key: LimitKey, _ policy: LimitPolicy) -> (ticket: LimitTicket?, answer: LimitAnswer) {
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

    func look(_ ticket: LimitTicket) -> LimitAnswer {
        // whoever stands before it looks first, each at its time
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

    func leave(_ ticket: LimitTicket) { _ = ledger.leave(ticket, now: now) }
}
