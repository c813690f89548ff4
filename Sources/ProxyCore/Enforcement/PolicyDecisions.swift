public import Authorization

/// AM's decisions that may be used again, and who asks for one at the moment. A value that knows no clock and no thread, and
/// of sessions, resources and circumstances digests alone.
public struct PolicyDecisions: Sendable {
    /// What a decision is about.
    public struct Key: Hashable, Sendable {
        /// Whose.
        public let session: UInt128
        /// On which action on which resource, in which circumstances.
        public let question: UInt128

        public init(session: UInt128, question: UInt128) {
            self.session = session
            self.question = question
        }
    }

    private struct Entry: Sendable {
        let allows: Bool
        /// On a clock that only goes on.
        let until: Int
        /// When it was made, on that clock.
        let since: Int
        /// Whom it counts for.
        let client: Int
    }

    /// Somebody who waits for a place among those who ask.
    private struct Waiting: Sendable {
        let ticket: FlightTicket
        let client: Int
        let most: Int
    }

    private var entries: [Key: Entry] = [:]
    private var held: [Int: Int] = [:]
    private var asking = 0
    private var askingFor: [Int: Int] = [:]
    /// In the order in which they came.
    private var line: [Waiting] = []
    private var issued: UInt64 = 0
    /// Counts what makes decisions void that are on their way: the end of a session, whosever.
    public private(set) var generation = 0
    /// Sessions that ended lately, each with the generation of its end; others may go on meanwhile.
    private var ended: [UInt128: Int] = [:]
    /// What was asked before that is void, whosever: more ended since than are remembered.
    private var known = 0
    private let most: Int

    /// - Parameter most: decisions that are kept, each of a fixed size; a quarter of them may be one client's.
    public init(most: Int = 8192) { self.most = max(8, most) }

    public var count: Int { entries.count }
    private var share: Int { most / 4 }

    // MARK: decisions

    /// - Parameter maxAge: milliseconds that a decision may be old, as the configuration says now.
    public func allows(_ key: Key, now: Int, maxAge: Int = .max) -> Bool? {
        guard let entry = entries[key], entry.until > now, now - entry.since < maxAge else { return nil }
        return entry.allows
    }

    /// - Parameter generation: at the time of asking.
    public mutating func keep(
        _ key: Key, allows: Bool, until: Int, for client: Int, asked generation: Int, now: Int
    ) {
        guard until > now, generation >= known, ended[key.session, default: 0] <= generation else { return }
        forget(key)
        makeRoom(for: client, now)
        entries[key] = Entry(allows: allows, until: until, since: now, client: client)
        held[client, default: 0] += 1
    }

    /// Sessions are over, or others take their place.
    public mutating func end(sessions: Set<UInt128>) {
        generation += 1
        if ended.count + sessions.count > most {
            ended = [:]
            known = generation
        }
        for session in sessions { ended[session] = generation }
        for key in entries.keys where sessions.contains(key.session) { forget(key) }
    }

    public mutating func end(session: UInt128) { end(sessions: [session]) }

    /// All there are may be.
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

    /// Whoever holds the most gives way, and a client that has its share to itself; those first that end first.
    private mutating func makeRoom(for client: Int, _ now: Int) {
        guard entries.count >= most || held[client, default: 0] >= share else { return }
        for (key, entry) in entries where entry.until <= now { forget(key) }
        let heaviest = held[client, default: 0] >= share ? client : held.max { $0.value < $1.value }?.key
        guard let heaviest, entries.count >= most || held[client, default: 0] >= share else { return }
        // several at once: it takes a look at all of them
        let oldest = entries.filter { $0.value.client == heaviest }.sorted { $0.value.until < $1.value.until }
        for (key, _) in oldest.prefix(max(1, oldest.count / 8)) { forget(key) }
    }

    // MARK: questions

    /// Takes a place among those who ask. One client has half of them at most.
    public mutating func begin(_ client: Int, most: Int) -> Bool {
        guard hasRoom(client, most) else { return false }
        asking += 1
        askingFor[client, default: 0] += 1
        return true
    }

    private func hasRoom(_ client: Int, _ most: Int) -> Bool {
        asking < most && askingFor[client, default: 0] < max(1, most / 2)
    }

    public mutating func finish(_ client: Int) {
        asking -= 1
        let left = (askingFor[client] ?? 1) - 1
        askingFor[client] = left > 0 ? left : nil
    }

    /// More than these do not wait.
    private static let mostWaiting = 4096

    /// Waits for a place. Whoever does leaves as soon as it has one.
    /// - Returns: nil where there is no room.
    public mutating func enter(_ client: Int, most: Int) -> FlightTicket? {
        guard line.count < Self.mostWaiting else { return nil }
        issued += 1
        let ticket = FlightTicket(.question, issued)
        line.append(Waiting(ticket: ticket, client: client, most: most))
        return ticket
    }

    public mutating func leave(_ ticket: FlightTicket) { line.removeAll { $0.ticket == ticket } }

    /// Whose turn it is: the first of those who wait that would get a place. To be told where one asks no more, or waits no
    /// more.
    public var next: FlightTicket? { line.first { hasRoom($0.client, $0.most) }?.ticket }
}
