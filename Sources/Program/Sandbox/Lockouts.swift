/// The users who are locked out after wrong answers in a row.
struct Lockouts: Sendable {
    private struct Count: Sendable {
        var failures = 0
        var until = 0
    }

    /// The wrong answers before a lockout; 0 for never.
    var limit: Int
    /// Seconds.
    var hold: Int
    private var counts: [String: Count] = [:]

    init(limit: Int, hold: Int) {
        self.limit = limit
        self.hold = hold
    }

    private static func key(_ user: String, _ realm: String) -> String { "\(realm) \(user)" }

    func isLocked(_ user: String, _ realm: String, now: Int) -> Bool {
        now < counts[Self.key(user, realm)]?.until ?? 0
    }

    mutating func lock(_ user: String, _ realm: String, now: Int) {
        counts[Self.key(user, realm)] = Count(until: now + hold)
    }

    mutating func failed(_ user: String, _ realm: String, now: Int) {
        // unknown names count too, so the table needs a limit
        guard limit > 0, counts.count < 10_000 else { return }
        var count = counts[Self.key(user, realm)] ?? Count()
        count.failures += 1
        if count.failures >= limit { count = Count(until: now + hold) }
        counts[Self.key(user, realm)] = count
    }

    mutating func succeeded(_ user: String, _ realm: String) { counts[Self.key(user, realm)] = nil }
}
