/// A client and a server that it connects to.
struct ClientPlace: Hashable, Sendable {
    let client: ClientKey
    let place: ServerPlace
}

/// Recent successful handshakes and open connections, by client and server. Bounded: when full, the oldest half is forgotten.
struct RecentSuccesses: Sendable {
    private var recent: [ClientPlace: Int] = [:]
    private var older: [ClientPlace: Int] = [:]
    private let capacity: Int
    /// The time to remember a success, in milliseconds.
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
