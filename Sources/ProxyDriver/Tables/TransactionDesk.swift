import Authorization
import EventLoop
import ProxyCore

/// One loop's access to the step-ups that wait for a person.
final class TransactionDesk: TransactionStore {
    private let table: TransactionTable
    private let waiting: WaitingExchanges<TransactionID>

    init(loop: Loop, _ table: TransactionTable) throws(SystemError) {
        self.table = table
        waiting = try WaitingExchanges(loop: loop) { $0.happened(.waitEnded, to: $1) }
    }

    func park(_ transaction: OpenTransaction, notify: [String]) -> Parking {
        table.park(transaction, notify: notify, waiting.mailbox)
    }

    func look(_ id: TransactionID) -> PersonVerdict? { table.look(id) }

    func leave(_ id: TransactionID) {
        waiting.forget(id)
        table.leave(id)
    }

    /// Has the exchange notified when a person has answered.
    func register(_ id: TransactionID, of exchange: ExchangeID, for connection: Connection) {
        waiting.register(id, of: exchange, for: connection)
    }
}
