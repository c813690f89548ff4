import EventLoop
import Interception
import ProxyCore

/// One loop's access to the limits of all loops.
final class LimitDesk: LimitStore {
    private let table: LimitTable
    private let waiting: WaitingExchanges<LimitTicket>

    init(loop: Loop, _ table: LimitTable) throws(SystemError) {
        self.table = table
        waiting = try WaitingExchanges(loop: loop) { $0.happened(.turnCame, to: $1) }
    }

    func ask(_ key: LimitKey, _ policy: LimitPolicy) -> (ticket: LimitTicket?, answer: LimitAnswer) {
        table.ask(key, policy, waiting.mailbox)
    }

    func look(_ ticket: LimitTicket) -> LimitAnswer { table.look(ticket) }

    func leave(_ ticket: LimitTicket) {
        waiting.forget(ticket)
        table.leave(ticket)
    }

    /// Has the exchange notified when its turn comes.
    func register(_ ticket: LimitTicket, of id: ExchangeID, for connection: Connection) {
        waiting.register(ticket, of: id, for: connection)
    }
}
