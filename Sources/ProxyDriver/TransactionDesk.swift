import Authorization
import EventLoop
import ProxyCore

/// One loop's way to the step-ups that wait for a person.
final class TransactionDesk: TransactionStore {
    private struct Waiting {
        /// An exchange gives its place up before its connection goes.
        unowned let connection: Connection
        let exchange: ExchangeID
    }

    private let table: TransactionTable
    private let words: TransactionTable.Port
    private var port: EventSource?
    private var waiting: [TransactionID: Waiting] = [:]

    init(loop: Loop, _ table: TransactionTable) throws(SystemError) {
        self.table = table
        words = try Mailbox()
        port = try MailboxPort(loop: loop, words) { [unowned self] in came($0) }
    }

    func park(_ transaction: OpenTransaction, notify: [String]) -> Parking {
        table.park(transaction, notify: notify, words)
    }

    func look(_ id: TransactionID) -> PersonVerdict? { table.look(id) }

    func leave(_ id: TransactionID) {
        waiting[id] = nil
        table.leave(id)
    }

    /// The exchange is told when somebody has spoken.
    func register(_ id: TransactionID, of exchange: ExchangeID, for connection: Connection) {
        waiting[id] = Waiting(connection: connection, exchange: exchange)
    }

    private func came(_ id: TransactionID) {
        guard let waiting = waiting.removeValue(forKey: id) else { return }
        waiting.connection.personSpoke(waiting.exchange)
    }
}
