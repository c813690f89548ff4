import EventLoop
import Interception
import ProxyCore

/// One loop's way to the limits that all loops share.
final class LimitDesk: LimitStore {
    private struct Waiting {
        /// An exchange gives its place up before its connection goes.
        unowned let connection: Connection
        let exchange: ExchangeID
    }

    private let table: LimitTable
    private let turns: LimitTable.Port
    private var port: EventSource?
    private var waiting: [LimitTicket: Waiting] = [:]

    init(loop: Loop, _ table: LimitTable) throws(SystemError) {
        self.table = table
        turns = try Mailbox()
        port = try MailboxPort(loop: loop, turns) { [unowned self] in came($0) }
    }

    func ask(_ key: LimitKey, _ policy: LimitPolicy) -> (ticket: LimitTicket?, answer: LimitAnswer) {
        table.ask(key, policy, turns)
    }

    func look(_ ticket: LimitTicket) -> LimitAnswer { table.look(ticket) }

    func leave(_ ticket: LimitTicket) {
        waiting[ticket] = nil
        table.leave(ticket)
    }

    /// The exchange is told when its turn has come.
    func register(_ ticket: LimitTicket, of id: ExchangeID, for connection: Connection) {
        waiting[ticket] = Waiting(connection: connection, exchange: id)
    }

    private func came(_ ticket: LimitTicket) {
        guard let waiting = waiting.removeValue(forKey: ticket) else { return }
        waiting.connection.turnCame(waiting.exchange)
    }
}
