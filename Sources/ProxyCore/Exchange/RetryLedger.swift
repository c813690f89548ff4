/// Further attempts that an exchange has had, and at whose wish.
struct RetryLedger {
    private(set) var total = 0
    /// Who asked for the one that is under way.
    private(set) var last: String?
    private var counts: [String: Int] = [:]

    /// How many an interceptor has had.
    func count(of interceptor: String) -> Int { counts[interceptor] ?? 0 }

    mutating func enter(_ interceptor: String) {
        total += 1
        last = interceptor
        counts[interceptor, default: 0] += 1
    }

    /// One that no interceptor's retry asked for: the connection had gone stale, or a login was over.
    mutating func enterUnasked() { total += 1 }
}
