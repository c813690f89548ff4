/// AM's reusable decisions. It is a value without clock or thread, and holds only digests of
/// sessions, resources and circumstances.
public struct PolicyDecisions: Sendable {
    /// The subject of a decision.
    public struct Key: Hashable, Sendable {
        /// The session's digest.
        public let session: UInt128
        /// The digest of action, resource and circumstances.
        public let question: UInt128

        public init(session: UInt128, question: UInt128) {
            self.session = session
            self.question = question
        }
    }

    private struct Entry: Sendable {
        let allows: Bool
        /// Its end, by a monotonic clock.
        let until: Int
        /// The time when it was made, by that clock.
        let since: Int
        /// The client that it counts for.
        let client: Int
    }

    private var entries: [Key: Entry] = [:]
    private var held: [Int: Int] = [:]
    /// Counts events that void decisions on their way: the end of any session.
    public private(set) var generation = 0
    /// Sessions that ended recently, each with the generation of its end; other sessions' decisions stay valid.
    private var ended: [UInt128: Int] = [:]
    /// The generation before which all questions are void, after more sessions ended than are remembered.
    private var known = 0
    private let most: Int

    /// - Parameter most: the number of decisions kept, each of a fixed size; one client may hold a quarter of them.
    public init(most: Int = 8192) { self.most = max(8, most) }

    public var count: Int { entries.count }
    private var share: Int { most / 4 }

    /// - Parameter maxAge: the greatest age of a decision in milliseconds, by the current configuration.
    public func allows(_ key: Key, now: Int, maxAge: Int = .max) -> Bool? {
        guard let entry = entries[key], entry.until > now, now - entry.since < maxAge else { return nil }
        return entry.allows
    }

    /// - Parameter generation: its value at the time of asking.
    public mutating func keep(
        _ key: Key, allows: Bool, until: Int, for client: Int, asked generation: Int, now: Int
    ) {
        guard until > now, generation >= known, ended[key.session, default: 0] <= generation else { return }
        forget(key)
        makeRoom(for: client, now)
        entries[key] = Entry(allows: allows, until: until, since: now, client: client)
        held[client, default: 0] += 1
    }

    /// Drops the decisions for sessions that are over or were replaced.
    public mutating func end(sessions: Set<UInt128>) {
        generation += 1
        if ended.count + sessions.count > most {
            ended = [:]
            known = generation
        }
        for session in sessions { ended[session] = generation }
        for key in entries.keys where sessions.contains(key.session) { forget(key) }
    }

    /// Drops all decisions, as any session may have ended.
    public mutating func endAll() {
        generation += 1
        known = generation
        (ended, entries, held) = ([:], [:], [:])
    }

    private mutating func forget(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        let left = (held[entry.client] ?? 1) - 1
        held[entry.client] = left > 0 ? left : nil
    }

    /// Drops decisions of the client with the most, or of this client at its share; those that end soonest go first.
    private mutating func makeRoom(for client: Int, _ now: Int) {
        guard entries.count >= most || held[client, default: 0] >= share else { return }
        for (key, entry) in entries where entry.until <= now { forget(key) }
        let heaviest = held[client, default: 0] >= share ? client : held.max { $0.value < $1.value }?.key
        guard let heaviest, entries.count >= most || held[client, default: 0] >= share else { return }
        // drops several at a time, as each search reads all of them
        let oldest = entries.filter { $0.value.client == heaviest }.sorted { $0.value.until < $1.value.until }
        for (key, _) in oldest.prefix(max(1, oldest.count / 8)) { forget(key) }
    }
}
