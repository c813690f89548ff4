public import Authorization
internal import EventLoop
public import ProxyCore

/// The step-ups that wait for a person, for all loops and generations of the configuration. It notifies the loop of a step-up
/// when a person has answered.
public final class TransactionTable: Sendable {
    typealias Port = Mailbox<TransactionID>

    private let ledger = Locked(TransactionLedger<Port>())
    private let notice: @Sendable (TransactionID, OpenTransaction, [String]) -> Void

    /// - Parameter notice: gets each new step-up with its notification command, on its loop's thread.
    public init(notice: @escaping @Sendable (TransactionID, OpenTransaction, [String]) -> Void = { _, _, _ in }) {
        self.notice = notice
    }

    // MARK: loops

    func park(_ transaction: OpenTransaction, notify: [String], _ port: Port) -> Parking {
        var chance = SystemRandomNumberGenerator()
        let (parking, displaced) = ledger.withLock { $0.park(transaction, port, using: &chance) }
        if let (id, port) = displaced { port.post(id) }
        if case .parked(let id) = parking, !notify.isEmpty { notice(id, transaction, notify) }
        return parking
    }

    func look(_ id: TransactionID) -> PersonVerdict? { ledger.withLock { $0.look(id) } }

    func leave(_ id: TransactionID) { ledger.withLock { $0.leave(id, now: Loop.monotonicMilliseconds()) } }

    // MARK: people

    /// The most step-ups that may wait.
    public var most: Int { ledger.withLock { $0.most } }

    public func list() -> [WaitingTransaction] { ledger.withLock { $0.list(now: Loop.monotonicMilliseconds()) } }

    public func find(_ id: TransactionID) throws(TransactionRefusal) -> WaitingTransaction {
        let found = ledger.withLock { ledger -> Result<WaitingTransaction, TransactionRefusal> in
            do throws(TransactionRefusal) {
                return .success(try ledger.find(id, now: Loop.monotonicMilliseconds()))
            } catch {
                return .failure(error)
            }
        }
        return try found.get()
    }

    /// - Returns: the callbacks still to answer.
    public func answer(_ id: TransactionID, _ answers: PersonAnswers) throws(TransactionRefusal) -> [OpenCallback] {
        let answered = ledger.withLock { ledger -> Result<([OpenCallback], Port?), TransactionRefusal> in
            do throws(TransactionRefusal) {
                let (missing, port) = try ledger.answer(id, answers, now: Loop.monotonicMilliseconds())
                return .success((missing, port))
            } catch {
                return .failure(error)
            }
        }
        let (missing, port) = try answered.get()
        port?.post(id)
        return missing
    }

    public func deny(_ id: TransactionID) throws(TransactionRefusal) {
        let denied = ledger.withLock { ledger -> Result<Port, TransactionRefusal> in
            do throws(TransactionRefusal) {
                return .success(try ledger.deny(id, now: Loop.monotonicMilliseconds()))
            } catch {
                return .failure(error)
            }
        }
        try denied.get().post(id)
    }
}
