public import Authorization

/// The step-ups that wait for a person, and what was said to them. Pure: time and chance come in.
///
/// A waiter is what has to be told once somebody has spoken.
public struct TransactionLedger<Waiter> {
    fileprivate struct Entry {
        let transaction: OpenTransaction
        let waiter: Waiter
        let number: UInt64
        var given = PersonAnswers()
        var verdict: PersonVerdict?
    }

    private var entries: [TransactionID: Entry] = [:]
    /// How many each client has that still wait for a word.
    private var waiting: [String: Int] = [:]
    private var total = 0
    /// How the latest ended, for whoever speaks to them still.
    private var endings: [TransactionID: TransactionRefusal.Ending] = [:]
    private var endingOrder: [TransactionID] = []
    private var nextEnding = 0
    private var issued: UInt64 = 0
    private let capacity: Int
    private let remembered: Int

    /// - Parameters:
    ///   - capacity: how many may wait.
    ///   - remembered: of how many it is known how they ended.
    public init(capacity: Int = 1000, remembered: Int = 1024) {
        self.capacity = max(1, capacity)
        self.remembered = max(1, remembered)
    }

    /// How many wait.
    public var count: Int { total }
    public var most: Int { capacity }

    // MARK: those who wait

    /// - Returns: also whoever lost its place for this one: the latest of the client that has most of them.
    public mutating func park(
        _ transaction: OpenTransaction, _ waiter: Waiter, using chance: inout some RandomNumberGenerator
    ) -> (parking: Parking, displaced: (TransactionID, Waiter)?) {
        let client = transaction.client.identity
        var displaced: (TransactionID, Waiter)?
        if total >= capacity {
            displaced = makeRoom(for: client)
            guard displaced != nil else {
                return (
                    .full(
                        "\(capacity) step-ups wait for a person already, \(waiting[client] ?? 0) of them this client's"),
                    nil
                )
            }
        }
        var id = TransactionID(using: &chance)
        while entries[id] != nil || endings[id] != nil { id = TransactionID(using: &chance) }
        issued += 1
        entries[id] = Entry(transaction: transaction, waiter: waiter, number: issued)
        waiting[client, default: 0] += 1
        total += 1
        return (.parked(id), displaced)
    }

    /// No client takes all places from others: whoever has most gives one up for a client that has fewer.
    private mutating func makeRoom(for client: String) -> (TransactionID, Waiter)? {
        guard let most = waiting.max(by: { $0.value < $1.value }), most.value > waiting[client, default: 0] + 1 else {
            return nil
        }
        let candidates = entries.filter { $0.value.verdict == nil && $0.value.transaction.client.identity == most.key }
        guard let latest = candidates.max(by: { $0.value.number < $1.value.number }) else { return nil }
        settle(latest.key, .displaced)
        return (latest.key, latest.value.waiter)
    }

    public func look(_ id: TransactionID) -> PersonVerdict? { entries[id]?.verdict }

    /// It is over, or does not wait any more.
    public mutating func leave(_ id: TransactionID, now: Int) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        switch entry.verdict {
        case .answered: end(id, .answered)
        case .denied: end(id, .denied)
        case .displaced: end(id, .displaced)
        case nil:
            forget(entry.transaction.client.identity)
            end(id, now >= entry.transaction.until ? .late : .left)
        }
    }

    // MARK: those who speak

    /// What waits, the oldest first.
    public func list(now: Int) -> [WaitingTransaction] {
        entries.filter { $0.value.verdict == nil && now < $0.value.transaction.until }
            .sorted { $0.value.number < $1.value.number }
            .map { WaitingTransaction(id: $0.key, transaction: $0.value.transaction, given: $0.value.given) }
    }

    public func find(_ id: TransactionID, now: Int) throws(TransactionRefusal) -> WaitingTransaction {
        let entry = try open(id, now)
        return WaitingTransaction(id: id, transaction: entry.transaction, given: entry.given)
    }

    /// Takes what a person says; it may be a part of what is asked.
    /// - Returns: what is still to be said, and whom to tell where that is nothing.
    public mutating func answer(
        _ id: TransactionID, _ answers: PersonAnswers, now: Int
    ) throws(TransactionRefusal) -> (missing: [OpenCallback], waiter: Waiter?) {
        var entry = try open(id, now)
        let step = entry.transaction.step
        if let refusal = step.refusal(of: answers) { throw .unfit(refusal.reason) }
        if let twice = answers.callbacks.keys.sorted().first(where: { entry.given.callbacks[$0] != nil }) {
            throw .twice(place: twice)
        }
        entry.given.callbacks.merge(answers.callbacks) { first, _ in first }
        entry.given.link = answers.link ?? entry.given.link
        entries[id] = entry
        guard step.isAnswered(by: entry.given) else { return (step.missing(in: entry.given), nil) }
        settle(id, .answered(entry.given))
        return ([], entry.waiter)
    }

    public mutating func deny(_ id: TransactionID, now: Int) throws(TransactionRefusal) -> Waiter {
        let entry = try open(id, now)
        settle(id, .denied)
        return entry.waiter
    }

    private func open(_ id: TransactionID, _ now: Int) throws(TransactionRefusal) -> Entry {
        guard let entry = entries[id] else {
            if let ending = endings[id] { throw .over(ending) }
            throw .unknown
        }
        switch entry.verdict {
        case .answered: throw .over(.answered)
        case .denied: throw .over(.denied)
        case .displaced: throw .over(.displaced)
        case nil: break
        }
        guard now < entry.transaction.until else { throw .over(.late) }
        return entry
    }

    // MARK: the end

    private mutating func settle(_ id: TransactionID, _ verdict: PersonVerdict) {
        guard var entry = entries[id], entry.verdict == nil else { return }
        entry.verdict = verdict
        entries[id] = entry
        forget(entry.transaction.client.identity)
    }

    private mutating func forget(_ client: String) {
        total -= 1
        let left = (waiting[client] ?? 1) - 1
        waiting[client] = left > 0 ? left : nil
    }

    private mutating func end(_ id: TransactionID, _ ending: TransactionRefusal.Ending) {
        if endingOrder.count < remembered {
            endingOrder.append(id)
        } else {
            endings[endingOrder[nextEnding]] = nil
            endingOrder[nextEnding] = id
            nextEnding = (nextEnding + 1) % remembered
        }
        endings[id] = ending
    }
}

extension TransactionLedger: Sendable where Waiter: Sendable {}
extension TransactionLedger.Entry: Sendable where Waiter: Sendable {}

/// One that waits, and what was said to it so far.
public struct WaitingTransaction: Sendable {
    public let id: TransactionID
    public let transaction: OpenTransaction
    fileprivate let given: PersonAnswers

    /// The callbacks that nobody has answered yet.
    public var missing: [OpenCallback] { transaction.step.missing(in: given) }
}
