public import Authorization
public import ProxyCore

/// The step-ups that wait for a person.
public typealias TransactionTable = SharedLedger<TransactionLedger<WaitingPort>>

extension TransactionTable {
    /// The most step-ups that may wait.
    public var most: Int { change { $0.most } }

    public func list() -> [WaitingTransaction] { change { $0.list(now: now) } }

    public func find(_ id: TransactionID) throws(TransactionRefusal) -> WaitingTransaction {
        try tell { ledger throws(TransactionRefusal) in (try ledger.find(id, now: now), []) }
    }

    /// - Returns: the callbacks still to answer.
    public func answer(_ id: TransactionID, _ answers: PersonAnswers) throws(TransactionRefusal) -> [OpenCallback] {
        try tell { ledger throws(TransactionRefusal) in try ledger.answer(id, answers, now: now) }
    }

    public func deny(_ id: TransactionID) throws(TransactionRefusal) {
        try tell { ledger throws(TransactionRefusal) in ((), try ledger.deny(id, now: now)) }
    }
}
