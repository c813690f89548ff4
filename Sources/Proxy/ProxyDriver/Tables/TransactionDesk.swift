import Interception
import ProxyCore

/// One loop's access to the step-ups that wait for a person.
final class TransactionDesk: Desk<TransactionLedger<WaitingPort>>, TransactionStore {
    private let notice: SharedTables.Notice

    init(_ table: TransactionTable, _ waiting: WaitingExchanges, _ notice: @escaping SharedTables.Notice) {
        self.notice = notice
        super.init(table, waiting)
    }

    func park(_ transaction: OpenTransaction, notify: [String]) -> Parking {
        var chance = SystemRandomNumberGenerator()
        let parking = table.tell { $0.park(transaction, port, using: &chance) }
        if case .parked(let id, _) = parking, !notify.isEmpty { notice(id, transaction, notify) }
        return parking
    }

    func look(_ id: TransactionID) -> PersonVerdict? { table.change { $0.look(id) } }

    func leave(_ id: TransactionID, _ ticket: WaitingTicket) {
        waiting.forget(ticket)
        table.change { $0.leave(id, now: now) }
    }
}
