import Interception
import ProxyCore

/// The counts of the interceptors' limits.
typealias LimitTable = SharedLedger<LimitLedger<WaitingPort>>

extension Desk<LimitLedger<WaitingPort>>: LimitStore {
    func ask(_ key: LimitKey, _ policy: LimitPolicy) -> (ticket: WaitingTicket?, answer: LimitAnswer) {
        table.tell { ledger in
            let asked = ledger.ask(key, policy, port, now: now)
            return ((asked.ticket, asked.answer), asked.turns)
        }
    }

    func look(_ ticket: WaitingTicket) -> LimitAnswer { table.tell { $0.look(ticket, now: now) } }

    func leave(_ ticket: WaitingTicket) {
        waiting.forget(ticket)
        table.tell { $0.leave(ticket, now: now) }
    }
}
