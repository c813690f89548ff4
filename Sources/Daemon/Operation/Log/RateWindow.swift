/// The rate per second of a counter that is sampled at intervals.
struct RateWindow {
    private struct Sample {
        var at: Int
        var count: Int
    }

    private var samples: [Sample] = []

    /// The interval of samples, and the time that they are kept, in milliseconds.
    static let interval = 1_000
    private static let longest = 61_000

    /// - Parameter now: in monotonic milliseconds.
    mutating func note(_ count: Int, now: Int) {
        if let last = samples.last, now - last.at < Self.interval { return }
        samples.append(Sample(at: now, count: count))
        samples.removeAll { now - $0.at > Self.longest }
    }

    /// - Parameter span: in milliseconds; a shorter time counts if no more is known.
    func perSecond(over span: Int, _ count: Int, now: Int) -> Double {
        // the oldest sample within the span; a sample is at most one interval late
        guard let first = samples.first(where: { now - $0.at <= span + Self.interval }), now > first.at else {
            return 0
        }
        return Double(count - first.count) * 1000 / Double(now - first.at)
    }
}
