/// What one loop knows of names: addresses for as long as they may be kept, and who waits for which question. No clock: every
/// call says what time it is, in monotonic milliseconds.
public struct NameCache<Asker: AnyObject> {
    public enum Finding: Equatable {
        /// More follow for the asker where it is not complete.
        case known([SocketAddress], isComplete: Bool)
        case failed(Resolver.Failure)
        /// Nobody has asked yet: put the question, then pass the answers on.
        case unasked
        /// The question is under way.
        case waiting
    }

    private struct Entry {
        var addresses: [SocketAddress] = []
        var failure: Resolver.Failure?
        var isComplete = false
        /// Of the least lasting answer; of no meaning before the last one.
        var expires = Int.max
        var askers: [Asker] = []
    }

    private var entries: [String: Entry] = [:]
    private let capacity: Int

    /// Times to live, in seconds: however short, one burst of requests makes one question; however long, a change is
    /// seen within the hour.
    private static var lives: ClosedRange<Int> { 1...3600 }
    /// How long a name without addresses is remembered, in milliseconds.
    private static var failureLife: Int { 3_000 }

    /// - Parameter capacity: names that are remembered.
    public init(capacity: Int = 1024) { self.capacity = capacity }

    public var count: Int { entries.count }

    /// Looks for a name. The asker is among those of the answers to come, unless there are none to come.
    public mutating func find(_ host: String, for asker: Asker, now: Int) -> Finding {
        if let entry = entries[host], !entry.isComplete || entry.expires > now {
            if let failure = entry.failure { return .failed(failure) }
            if !entry.isComplete { entries[host]?.askers.append(asker) }
            return entry.addresses.isEmpty ? .waiting : .known(entry.addresses, isComplete: entry.isComplete)
        }
        if entries[host] == nil, entries.count >= capacity, !makeRoom(now: now) { return .failed(.overloaded) }
        entries[host] = Entry(askers: [asker])
        return .unasked
    }

    /// Takes an answer in.
    /// - Returns: who waits for it.
    public mutating func take(_ answer: Resolver.Answer, now: Int) -> [Asker] {
        guard var entry = entries[answer.host], !entry.isComplete else { return [] }
        let askers = entry.askers
        if let failure = answer.failure {
            entry.failure = failure
            entry.expires = now + Self.failureLife
        } else if !answer.addresses.isEmpty {
            entry.addresses += answer.addresses
            let life = min(max(Int(answer.timeToLive), Self.lives.lowerBound), Self.lives.upperBound)
            entry.expires = min(entry.expires, now + life * 1000)
        }
        entry.isComplete = answer.isComplete
        if entry.isComplete { entry.askers = [] }
        // too many questions say nothing about the name
        entries[answer.host] = answer.failure == .overloaded ? nil : entry
        return askers
    }

    /// The asker does not wait any more. The question goes on: its answer will serve others.
    public mutating func forget(_ host: String, _ asker: Asker) {
        entries[host]?.askers.removeAll { $0 === asker }
    }

    /// Lets go of what is out of date, or else of what soonest will be. False when every name is still being asked for.
    private mutating func makeRoom(now: Int) -> Bool {
        entries = entries.filter { !$0.value.isComplete || $0.value.expires > now }
        if entries.count < capacity { return true }
        guard let oldest = entries.filter(\.value.isComplete).min(by: { $0.value.expires < $1.value.expires }) else {
            return false
        }
        entries[oldest.key] = nil
        return true
    }
}
