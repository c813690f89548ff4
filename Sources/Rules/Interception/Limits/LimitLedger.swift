internal import Formats

/// The decision for a request at a limit.
public enum LimitAnswer: Equatable, Sendable {
    case go
    /// The request is queued. Check again after this many milliseconds; nil if another request must end first, in which case the
    /// waiter is notified.
    case wait(milliseconds: Int?)
    /// The request is refused. It may be retried after this many milliseconds; nil if that is unknown.
    case refused(milliseconds: Int?)
}

/// Counts active and queued requests for each key, first come, first served.
///
/// `Waiter` is the value that is notified when a queued request is admitted.
public struct LimitLedger<Waiter> {
    private struct Gate: Sendable {
        var policy: LimitPolicy
        var bucket: TokenBucket?
        var underWay = 0
        var queue: [WaitingTicket] = []

        init(_ policy: LimitPolicy, now: Int) {
            self.policy = policy
            bucket = policy.measure.map { TokenBucket($0, now: now) }
        }

        /// Adopts a policy that a reload may have changed.
        mutating func adopt(_ policy: LimitPolicy, now: Int) {
            guard policy != self.policy else { return }
            self.policy = policy
            if policy.measure == nil { bucket = nil } else if bucket == nil { bucket = Gate(policy, now: now).bucket }
        }

        func admits(_ now: Int) -> Bool {
            if let most = policy.concurrency, underWay >= most { return false }
            return wait(at: 0, now) == 0
        }

        /// The milliseconds until the rate admits the request at this position of the queue.
        func wait(at place: Int, _ now: Int) -> Int {
            guard let measure = policy.measure, let bucket else { return 0 }
            return bucket.wait(for: place + 1, measure, now: now)
        }

        mutating func enter(_ now: Int) {
            underWay += 1
            if let measure = policy.measure { bucket?.take(measure, now: now) }
        }

        /// True if the gate has no state worth keeping.
        func isIdle(_ now: Int) -> Bool {
            guard underWay == 0, queue.isEmpty else { return false }
            guard let measure = policy.measure, let bucket else { return true }
            return bucket.isFull(measure, now: now)
        }

        /// The share of the bucket that is left.
        func share(_ now: Int) -> Double {
            guard let measure = policy.measure, let bucket else { return 1 }
            return bucket.left(measure, now: now) / measure.burst
        }
    }

    fileprivate struct Entry {
        let key: LimitKey
        let waiter: Waiter
        var isUnderWay: Bool
    }

    private var gates: [LimitKey: Gate] = [:]
    private var entries: [WaitingTicket: Entry] = [:]
    private var issued = WaitingTicket.firstNumber()
    private let capacity: Int

    /// - Parameter capacity: the number of keys kept. Beyond it, idle keys with the fullest buckets are dropped.
    public init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    /// The number of keys kept.
    public var count: Int { gates.count }
    /// The number of active and queued requests.
    public var requests: Int { entries.count }

    /// Registers a request.
    /// - Returns: its ticket unless it was refused, the decision, and the queued requests admitted meanwhile.
    public mutating func ask(
        _ key: LimitKey, _ policy: LimitPolicy, _ waiter: Waiter, now: Int
    ) -> (ticket: WaitingTicket?, answer: LimitAnswer, turns: [(WaitingTicket, Waiter)]) {
        if gates[key] == nil, gates.count >= capacity { forget(now) }
        gates[key, default: Gate(policy, now: now)].adopt(policy, now: now)
        let turns = advance(key, now)
        guard var gate = gates[key] else { return (nil, .go, turns) }
        if gate.queue.isEmpty, gate.admits(now) {
            gate.enter(now)
            gates[key] = gate
            return (issue(key, waiter, isUnderWay: true), .go, turns)
        }
        let wait = gate.wait(at: gate.queue.count, now)
        guard let most = policy.wait, wait <= most, gate.queue.count < policy.queue else {
            return (nil, .refused(milliseconds: wait == 0 ? nil : wait), turns)
        }
        let ticket = issue(key, waiter, isUnderWay: false)
        gates[key]?.queue.append(ticket)
        return (ticket, .wait(milliseconds: wait == 0 ? nil : wait), turns)
    }

    private mutating func issue(_ key: LimitKey, _ waiter: Waiter, isUnderWay: Bool) -> WaitingTicket {
        issued += 1
        let ticket = WaitingTicket(.limit, issued)
        entries[ticket] = Entry(key: key, waiter: waiter, isUnderWay: isUnderWay)
        return ticket
    }

    /// Whether a queued request is admitted by now.
    public mutating func look(
        _ ticket: WaitingTicket, now: Int
    ) -> (answer: LimitAnswer, turns: [(WaitingTicket, Waiter)]) {
        guard let key = entries[ticket]?.key else { return (.refused(milliseconds: nil), []) }
        let turns = advance(key, now).filter { $0.0 != ticket }
        if entries[ticket]?.isUnderWay == true { return (.go, turns) }
        guard let gate = gates[key], let place = gate.queue.firstIndex(of: ticket) else {
            return (.refused(milliseconds: nil), turns)
        }
        let wait = gate.wait(at: place, now)
        return (.wait(milliseconds: wait == 0 ? nil : wait), turns)
    }

    /// Removes a request that has ended or stopped waiting.
    /// - Returns: the queued requests admitted now.
    public mutating func leave(_ ticket: WaitingTicket, now: Int) -> [(WaitingTicket, Waiter)] {
        guard let entry = entries.removeValue(forKey: ticket) else { return [] }
        if entry.isUnderWay {
            gates[entry.key]?.underWay -= 1
        } else {
            gates[entry.key]?.queue.removeAll { $0 == ticket }
        }
        let turns = advance(entry.key, now)
        if gates[entry.key]?.isIdle(now) == true { gates[entry.key] = nil }
        return turns
    }

    /// Admits queued requests in order while the limit allows.
    private mutating func advance(_ key: LimitKey, _ now: Int) -> [(WaitingTicket, Waiter)] {
        guard var gate = gates[key], !gate.queue.isEmpty else { return [] }
        var turns: [(WaitingTicket, Waiter)] = []
        while turns.count < gate.queue.count, gate.admits(now) {
            let ticket = gate.queue[turns.count]
            gate.enter(now)
            entries[ticket]?.isUnderWay = true
            if let waiter = entries[ticket]?.waiter { turns.append((ticket, waiter)) } else { break }
        }
        gate.queue.removeFirst(turns.count)
        gates[key] = gate
        return turns
    }

    /// Drops a quarter of the keys, to amortise the cost.
    private mutating func forget(_ now: Int) {
        let free = gates.filter { $0.value.underWay == 0 && $0.value.queue.isEmpty }
        let order = free.sorted { $0.value.share(now) > $1.value.share(now) }
        for (key, _) in order.prefix(max(1, capacity / 4)) { gates[key] = nil }
    }
}

extension LimitLedger: Sendable where Waiter: Sendable {}
extension LimitLedger.Entry: Sendable where Waiter: Sendable {}
