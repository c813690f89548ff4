/// What one loop knows of names: addresses for as long as they may be kept, and who waits for which question. No clock: every
/// call says what time it is, in monotonic milliseconds.
public struct NameCache<Asker: AnyObject, Client: Hashable> {
    public enum Finding: Equatable {
        /// More follow for the asker where it is not complete.
        case known([SocketAddress], isComplete: Bool)
        case failed(NameFailure)
        /// Nobody has asked yet: put the question, then pass the answers on.
        case unasked
        /// The question is under way.
        case waiting
    }

    private struct Entry {
        var addresses: [SocketAddress] = []
        var failure: NameFailure?
        var isComplete = false
        /// Of the least lasting answer; of no meaning before the last one.
        var expires = Int.max
        var askers: [Asker] = []
        /// For whom the question was put, until its last answer.
        var client: Client?
    }

    private var entries: [String: Entry] = [:]
    private let capacity: Int
    /// Questions under way for each client.
    private var shares: [Client: Int] = [:]
    private let share: Int

    /// Times to live, in seconds: however short, one burst of requests makes one question; however long, a change is
    /// seen within the hour.
    private static var lives: ClosedRange<Int> { 1...3600 }
    /// How long a name without addresses is remembered, in milliseconds.
    private static var failureLife: Int { 3_000 }

    /// - Parameters:
    ///   - capacity: names that are remembered.
    ///   - share: names that may be looked up for one client at one time.
    public init(capacity: Int = 4096, share: Int = 128) {
        self.capacity = capacity
        self.share = share
    }

    public var count: Int { entries.count }

    /// Looks for a name. The asker is among those of the answers to come, unless there are none to come.
    /// - Parameter client: whose share a new question counts to.
    public mutating func find(_ host: String, for asker: Asker, of client: Client?, now: Int) -> Finding {
        if let entry = entries[host], !entry.isComplete || entry.expires > now {
            if let failure = entry.failure { return .failed(failure) }
            if !entry.isComplete { entries[host]?.askers.append(asker) }
            return entry.addresses.isEmpty ? .waiting : .known(entry.addresses, isComplete: entry.isComplete)
        }
        if let client, shares[client, default: 0] >= share { return .failed(.tooMany) }
        if entries[host] == nil, entries.count >= capacity, !makeRoom(now: now) { return .failed(.overloaded) }
        if let client { shares[client, default: 0] += 1 }
        entries[host] = Entry(askers: [asker], client: client)
        return .unasked
    }

    /// Takes an answer in.
    /// - Returns: who waits for it.
    public mutating func take(_ answer: NameAnswer, now: Int) -> [Asker] {
        guard var entry = entries[answer.host], !entry.isComplete else { return [] }
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
            release(entry.client)
            entry.client = nil
        }
        entries[answer.host] = entry
        return askers
    }

    /// The asker does not wait any more. The question goes on: its answer will serve others.
    public mutating func forget(_ host: String, _ asker: Asker) {
        entries[host]?.askers.removeAll { $0 === asker }
    }

    /// Forgets what is known, because other servers may know better. Questions under way go on.
    public mutating func forgetAnswers() { entries = entries.filter { !$0.value.isComplete } }

    private mutating func release(_ client: Client?) {
        guard let client, let count = shares[client] else { return }
        shares[client] = count > 1 ? count - 1 : nil
    }

    /// Lets go of what is out of date, or else of what soonest will be. False when every name is still being asked for.
    private mutating func makeRoom(now: Int) -> Bool {
        entries = entries.filter { !$0.value.isComplete || $0.value.expires > now }
        if entries.count < capacity { return true }
        // for a quarter, so that it is not done for every name
        let known = entries.filter(\.value.isComplete).sorted { $0.value.expires < $1.value.expires }
        for (name, _) in known.prefix(max(1, capacity / 4)) { entries[name] = nil }
        return !known.isEmpty
    }
}
