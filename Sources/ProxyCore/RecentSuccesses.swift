/// A client at a server.
struct ClientPlace: Hashable, Sendable {
    let client: ClientKey
    let place: ServerPlace
}

/// Where a client's handshake went well lately, or what it led to was there. Bounded: the oldest half is forgotten where there are many.
struct RecentSuccesses: Sendable {
    private var recent: [ClientPlace: Int] = [:]
    private var older: [ClientPlace: Int] = [:]
    private let capacity: Int
    /// Milliseconds.
    private static let life = 60_000

    init(capacity: Int) { self.capacity = max(1, capacity) }

    mutating func note(_ key: ClientPlace, now: Int) {
        if recent.count >= capacity, recent[key] == nil {
            older = recent
            recent = [:]
        }
        recent[key] = now
    }

    func holds(_ key: ClientPlace, now: Int) -> Bool {
        (recent[key] ?? older[key]).map { now - $0 < Self.life } ?? false
    }
}
