public import Authorization
public import Interception

/// The step-ups that wait for a person, and their answers so far. It is pure: the caller passes time and random numbers.
///
/// A waiter is the value to notify once a person has answered.
public struct TransactionLedger<Waiter> {
    fileprivate struct Entry {
        let transaction: OpenTransaction
        let waiter: Waiter
        let number: UInt64
        var ticket: WaitingTicket { WaitingTicket(.person, number) }
        var given = PersonAnswers()
        var verdict: PersonVerdict?
    }

    private var entries: [TransactionID: Entry] = [:]
    /// The number of unanswered step-ups of each client.
    private var waiting: [String: Int] = [:]
    private var total = 0
    /// The endings of the latest step-ups, for persons who answer too late.
    private var endings: [TransactionID: TransactionRefusal.Ending] = [:]
    private var endingOrder: [TransactionID] = []
    private var nextEnding = 0
    private var issued: UInt64 = 0
    private let capacity: Int
    private let remembered: Int

    /// - Parameters:
    ///   - capacity: how many step-ups may wait.
    ///   - remembered: how many endings are remembered.
    public init(capacity: Int = 1000, remembered: Int = 1024) {
        self.capacity = max(1, capacity)
        self.remembered = max(1, remembered)
    }

    /// The number of waiting step-ups.
    public var count: Int { total }
    public var most: Int { capacity }

    // MARK: waiting step-ups

    /// - Returns: also the waiter of the displaced step-up, if any: the latest of the client with the most.
    public mutating func park(
        _ transaction: OpenTransaction, _ waiter: Waiter, using chance: inout some RandomNumberGenerator
    ) -> (parking: Parking, turns: [(WaitingTicket, Waiter)]) {
        let client = transaction.client.identity
        var turns: [(WaitingTicket, Waiter)] = []
        if total >= capacity {
            turns = makeRoom(for: client)
            if turns.isEmpty {
                return (
                    .full(
                        "\(capacity) step-ups wait for a person already, \(waiting[client] ?? 0) of them this client's"),
                    []
                )
            }
        }
        var id = TransactionID(using: &chance)
        while entries[id] != nil || endings[id] != nil { id = TransactionID(using: &chance) }
        issued += 1
        let entry = Entry(transaction: transaction, waiter: waiter, number: issued)
        entries[id] = entry
        waiting[client, default: 0] += 1
        total += 1
        return (.parked(id, entry.ticket), turns)
    }

    /// Makes room: the client with the most step-ups gives up one for a client with fewer.
    private mutating func makeRoom(for client: String) -> [(WaitingTicket, Waiter)] {
        guard let most = waiting.max(by: { $0.value < $1.value }), most.value > waiting[client, default: 0] + 1 else {
            return []
        }
        let candidates = entries.filter { $0.value.verdict == nil && $0.value.transaction.client.identity == most.key }
        guard let latest = candidates.max(by: { $0.value.number < $1.value.number }) else { return [] }
        return finish(latest.key, .displaced)
    }

    public func look(_ id: TransactionID) -> PersonVerdict? { entries[id]?.verdict }

    /// Removes a step-up that is over or no longer waits.
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

    // MARK: answers of persons

    /// The waiting step-ups, the oldest first.
    public func list(now: Int) -> [WaitingTransaction] {
        entries.filter { $0.value.verdict == nil && now < $0.value.transaction.until }
            .sorted { $0.value.number < $1.value.number }
            .map { WaitingTransaction(id: $0.key, transaction: $0.value.transaction, given: $0.value.given) }
    }

    public func find(_ id: TransactionID, now: Int) throws(TransactionRefusal) -> WaitingTransaction {
        let entry = try open(id, now)
        return WaitingTransaction(id: id, transaction: entry.transaction, given: entry.given)
    }

    /// Takes a person's answers, which may be partial.
    /// - Returns: the callbacks still to answer, and the waiter to notify if there are none.
    public mutating func answer(
        _ id: TransactionID, _ answers: PersonAnswers, now: Int
    ) throws(TransactionRefusal) -> (missing: [OpenCallback], turns: [(WaitingTicket, Waiter)]) {
        var entry = try open(id, now)
        let step = entry.transaction.step
        if let refusal = step.refusal(of: answers) { throw .unfit(refusal.reason) }
        if let twice = answers.callbacks.keys.sorted().first(where: { entry.given.callbacks[$0] != nil }) {
            throw .twice(place: twice)
        }
        entry.given.callbacks.merge(answers.callbacks) { first, _ in first }
        entry.given.link = answers.link ?? entry.given.link
        entries[id] = entry
        guard step.isAnswered(by: entry.given) else { return (step.missing(in: entry.given), []) }
        return ([], finish(id, .answered(entry.given)))
    }

    /// - Returns: the waiter to notify.
    public mutating func deny(
        _ id: TransactionID, now: Int
    ) throws(TransactionRefusal) -> [(WaitingTicket, Waiter)] {
        _ = try open(id, now)
        return finish(id, .denied)
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

    private mutating func finish(_ id: TransactionID, _ verdict: PersonVerdict) -> [(WaitingTicket, Waiter)] {
        guard var entry = entries[id], entry.verdict == nil else { return [] }
        entry.verdict = verdict
        entries[id] = entry
        forget(entry.transaction.client.identity)
        return [(entry.ticket, entry.waiter)]
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

/// A waiting step-up with its answers so far.
public struct WaitingTransaction: Sendable {
    public let id: TransactionID
    public let transaction: OpenTransaction
    fileprivate let given: PersonAnswers

    /// The callbacks without an answer.
    public var missing: [OpenCallback] { transaction.step.missing(in: given) }
}
