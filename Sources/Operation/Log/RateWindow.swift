/// How many of something come to a second, over the last while: of a count that was looked at now and then.
struct RateWindow {
    private struct Sample {
        var at: Int
        var count: Int
    }

    private var samples: [Sample] = []

    /// Between two samples that are kept, and how long they are, in milliseconds.
    static let interval = 1_000
    private static let longest = 61_000

    /// - Parameter now: monotonic milliseconds.
    mutating func note(_ count: Int, now: Int) {
        if let last = samples.last, now - last.at < Self.interval { return }
        samples.append(Sample(at: now, count: count))
        samples.removeAll { now - $0.at > Self.longest }
    }

    /// - Parameter span: in milliseconds; where less time is known of, that counts.
    func perSecond(over span: Int, _ count: Int, now: Int) -> Double {
        // the oldest that is not older than that; one look is late at most
        guard let first = samples.first(where: { now - $0.at <= span + Self.interval }), now > first.at else {
            return 0
        }
        return Double(count - first.count) * 1000 / Double(now - first.at)
    }
}
