public import EventLoop

/// The names of one loop: cached addresses, and the askers of each question. It has no clock: each call takes the time in
/// monotonic milliseconds.
public struct NameCache<Asker: AnyObject, Client: Hashable> {
    public enum Finding: Equatable {
        /// The known addresses. If incomplete, more follow for the asker.
        case known([SocketAddress], isComplete: Bool)
        case failed(NameFailure)
        /// The question is new. The caller must ask it and pass the answers to `take`.
        case unasked
        /// The question is in progress or queued behind others of the same client.
        case waiting
    }

    private struct Entry {
        var addresses: [SocketAddress] = []
        var failure: NameFailure?
        var isComplete = false
        /// The earliest expiry among the answers; undefined before the last one.
        var expires = Int.max
        var askers: [Asker] = []
        /// The client that the question counts for.
        var client: Client?
        /// Whether it waits for another question of that client.
        var isQueued = false
    }

    private struct Share {
        var underWay = 0
        /// The queued names. Not empty only while the client's share is in use.
        var queue: [String] = []
    }

    private var entries: [String: Entry] = [:]
    private let capacity: Int
    private var shares: [Client: Share] = [:]
    private let share: Int
    private let queue: Int

    /// The bounds of a time to live in seconds. The lower one merges a burst of requests into one question; the upper one
    /// limits how long a change goes unnoticed.
    private static var lives: ClosedRange<Int> { 1...3600 }
    /// How long a failure is cached, in milliseconds.
    private static var failureLife: Int { 3_000 }

    /// - Parameters:
    ///   - capacity: the most names that are cached.
    ///   - share: the most lookups in progress for one client.
    ///   - queue: the most names that wait for that, for each client.
    public init(capacity: Int = 4096, share: Int = 128, queue: Int = 256) {
        self.capacity = capacity
        self.share = share
        self.queue = queue
    }

    public var count: Int { entries.count }

    /// Looks for a name. The asker is registered for answers that are still to come.
    /// - Parameter client: the client that a new question counts for.
    public mutating func find(_ host: String, for asker: Asker, of client: Client?, now: Int) -> Finding {
        if let entry = entries[host], !entry.isComplete || entry.expires > now {
            if let failure = entry.failure { return .failed(failure) }
            if !entry.isComplete { entries[host]?.askers.append(asker) }
            if entry.isQueued, mayAsk(client) {
                // a client with room does not wait for the turn of another
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

    /// Stores an answer.
    /// - Returns: the askers to notify, and the queued name to ask for next.
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

    /// Removes an asker. A question in progress continues, since its answer may serve others.
    public mutating func forget(_ host: String, _ asker: Asker) {
        entries[host]?.askers.removeAll { $0 === asker }
        guard let entry = entries[host], entry.isQueued, entry.askers.isEmpty else { return }
        leaveQueue(host, entry.client)
        entries[host] = nil
    }

    /// Clears the cache after a change of servers. Questions in progress continue.
    public mutating func forgetAnswers() { entries = entries.filter { !$0.value.isComplete } }

    /// - Returns: the queued name to ask for next.
    private mutating func release(_ client: Client?) -> String? {
        guard let client, var held = shares[client] else { return nil }
        held.underWay -= 1
        let next = held.queue.isEmpty ? nil : held.queue.removeFirst()
        shares[client] = held.underWay > 0 || next != nil ? held : nil
        if let next { begin(next, of: client) }
        return next
    }

    /// Removes expired names, or else names of the client that holds most, the earliest to expire first. Returns false if
    /// all names are in progress.
    private mutating func makeRoom(now: Int) -> Bool {
        entries = entries.filter { !$0.value.isComplete || $0.value.expires > now }
        if entries.count < capacity { return true }
        var held: [Client?: Int] = [:]
        var ranks: [(name: String, rank: Int)] = []
        for (name, entry) in entries.filter(\.value.isComplete).sorted(by: { $0.value.expires > $1.value.expires }) {
            // the number of names of this client that expire later
            ranks.append((name, held[entry.client, default: 0]))
            held[entry.client, default: 0] += 1
        }
        ranks.sort { $0.rank > $1.rank }
        // a quarter at once, so that it runs rarely
        for (name, _) in ranks.prefix(max(1, capacity / 4)) { entries[name] = nil }
        return !ranks.isEmpty
    }
}
