public import EventLoop

/// What one loop knows of names: addresses for as long as they may be kept, and who waits for which question. No clock: every
/// call says what time it is, in monotonic milliseconds.
public struct NameCache<Asker: AnyObject, Client: Hashable> {
    public enum Finding: Equatable {
        /// More follow for the asker where it is not complete.
        case known([SocketAddress], isComplete: Bool)
        case failed(NameFailure)
        /// Nobody has asked yet: put the question, then pass the answers on.
        case unasked
        /// The question is under way, or waits for those of the same client before it.
        case waiting
    }

    private struct Entry {
        var addresses: [SocketAddress] = []
        var failure: NameFailure?
        var isComplete = false
        /// Of the least lasting answer; of no meaning before the last one.
        var expires = Int.max
        var askers: [Asker] = []
        /// For whom the question was put.
        var client: Client?
        /// It waits until another one of that client has its answer.
        var isQueued = false
    }

    private struct Share {
        var underWay = 0
        /// Names that wait; some only where as many as may be are under way.
        var queue: [String] = []
    }

    private var entries: [String: Entry] = [:]
    private let capacity: Int
    private var shares: [Client: Share] = [:]
    private let share: Int
    private let queue: Int

    /// Times to live, in seconds: however short, one burst of requests makes one question; however long, a change is
    /// seen within the hour.
    private static var lives: ClosedRange<Int> { 1...3600 }
    /// How long a name without addresses is remembered, in milliseconds.
    private static var failureLife: Int { 3_000 }

    /// - Parameters:
    ///   - capacity: names that are remembered.
    ///   - share: names that may be looked up for one client at one time.
    ///   - queue: names that may wait for that, of each client.
    public init(capacity: Int = 4096, share: Int = 128, queue: Int = 256) {
        self.capacity = capacity
        self.share = share
        self.queue = queue
    }

    public var count: Int { entries.count }

    /// Looks for a name. The asker is among those of the answers to come, unless there are none to come.
    /// - Parameter client: whose share a new question counts to.
    public mutating func find(_ host: String, for asker: Asker, of client: Client?, now: Int) -> Finding {
        if let entry = entries[host], !entry.isComplete || entry.expires > now {
            if let failure = entry.failure { return .failed(failure) }
            if !entry.isComplete { entries[host]?.askers.append(asker) }
            if entry.isQueued, mayAsk(client) {
                // who has room does not wait for another one's turn
                leaveQueue(host, entry.client)
                begin(host, of: client)
                return .unasked
            }
            return entry.addresses.isEmpty ? .waiting : .known(entry.addresses, isComplete: entry.isComplete)
        }
        let mayAsk = mayAsk(client)
        if !mayAsk, let client, shares[client, default: Share()].queue.count >= queue { return .failed(.tooMany) }
        if entries[host] == nil, entries.count >= capacity, !makeRoom(now: now) { return .failed(.overloaded) }
        entries[host] = Entry(askers: [asker], client: client, isQueued: true)
        if mayAsk {
            begin(host, of: client)
            return .unasked
        }
        if let client { shares[client, default: Share()].queue.append(host) }
        return .waiting
    }

    private func mayAsk(_ client: Client?) -> Bool {
        guard let client else { return true }
        return shares[client, default: Share()].underWay < share
    }

    private mutating func begin(_ host: String, of client: Client?) {
        entries[host]?.isQueued = false
        entries[host]?.client = client
        if let client { shares[client, default: Share()].underWay += 1 }
    }

    private mutating func leaveQueue(_ host: String, _ client: Client?) {
        if let client { shares[client]?.queue.removeAll { $0 == host } }
    }

    /// Takes an answer in.
    /// - Returns: who waits for it, and the name whose turn has come by that: put that question.
    public mutating func take(_ answer: NameAnswer, now: Int) -> (askers: [Asker], next: String?) {
        guard var entry = entries[answer.host], !entry.isComplete, !entry.isQueued else { return ([], nil) }
        let askers = entry.askers
        if let failure = answer.failure {
            entry.failure = failure
            entry.expires = now + Self.failureLife
        } else if !answer.addresses.isEmpty {
            entry.addresses += answer.addresses
            let life = min(max(answer.timeToLive, Self.lives.lowerBound), Self.lives.upperBound)
            entry.expires = min(entry.expires, now + life * 1000)
        }
        entry.isComplete = answer.isComplete
        if entry.isComplete {
            entry.askers = []
        }
        entries[answer.host] = entry
        return (askers, entry.isComplete ? release(entry.client) : nil)
    }

    /// The asker does not wait any more. A question under way goes on: its answer will serve others.
    public mutating func forget(_ host: String, _ asker: Asker) {
        entries[host]?.askers.removeAll { $0 === asker }
        guard let entry = entries[host], entry.isQueued, entry.askers.isEmpty else { return }
        leaveQueue(host, entry.client)
        entries[host] = nil
    }

    /// Forgets what is known, because other servers may know better. Questions under way go on.
    public mutating func forgetAnswers() { entries = entries.filter { !$0.value.isComplete } }

    /// - Returns: the name whose turn has come.
    private mutating func release(_ client: Client?) -> String? {
        guard let client, var held = shares[client] else { return nil }
        held.underWay -= 1
        let next = held.queue.isEmpty ? nil : held.queue.removeFirst()
        shares[client] = held.underWay > 0 || next != nil ? held : nil
        if let next { begin(next, of: client) }
        return next
    }

    /// Lets go of what is out of date, or else of names of whoever holds most of them, the soonest out of date first. False
    /// when every name is still being asked for.
    private mutating func makeRoom(now: Int) -> Bool {
        entries = entries.filter { !$0.value.isComplete || $0.value.expires > now }
        if entries.count < capacity { return true }
        var held: [Client?: Int] = [:]
        var ranks: [(name: String, rank: Int)] = []
        for (name, entry) in entries.filter(\.value.isComplete).sorted(by: { $0.value.expires > $1.value.expires }) {
            // how many names of the same client last longer
            ranks.append((name, held[entry.client, default: 0]))
            held[entry.client, default: 0] += 1
        }
        ranks.sort { $0.rank > $1.rank }
        // for a quarter, so that it is not done for every name
        for (name, _) in ranks.prefix(max(1, capacity / 4)) { entries[name] = nil }
        return !ranks.isEmpty
    }
}
