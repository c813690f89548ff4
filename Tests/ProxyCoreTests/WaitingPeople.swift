import Interception
import ProxyCore

/// Step-ups that wait for a person, with the ledger that the daemon has.
final class WaitingPeople: TransactionStore {
    var ledger: TransactionLedger<Int>
    var now = 0
    private(set) var notified: [[String]] = []

    init(capacity: Int = 1000) { ledger = TransactionLedger(capacity: capacity) }

    func park(_ transaction: OpenTransaction, notify: [String]) -> Parking {
        var chance = SystemRandomNumberGenerator()
        notified.append(notify)
        return ledger.park(transaction, 0, using: &chance).parking
    }

    func look(_ id: TransactionID) -> PersonVerdict? { ledger.look(id) }
    func leave(_ id: TransactionID, _ ticket: WaitingTicket) { ledger.leave(id, now: now) }
}
