/// What came in each minute of the last hour, by Action. It takes differences of the loops' counters.
public struct RateHistory: Sendable {
    /// The requests with one Action that ended in one minute.
    public struct Rate: Sendable {
        /// Empty for requests without an Action.
        public var action: String
        public var requests: Int
        /// Requests with a 5xx, an error of the proxy, or no response.
        public var errors: Int
        /// Responses that asked for a step-up.
        public var stepUps: Int
        fileprivate var buckets: [UInt64]

        /// The time in milliseconds that so many of a hundred requests did not exceed, interpolated between the bounds of the
        /// histogram. Times above its last bound count as that bound.
        public func percentile(_ percent: Int) -> Int {
            let bounds = DurationBounds.exchange.milliseconds
            let rank = (Double(requests) * Double(percent) / 100).rounded(.up)
            var below = 0.0
            for (index, bound) in bounds.enumerated() {
                let count = Double(buckets[index])
                if count > 0, below + count >= rank {
                    let least = Double(index == 0 ? 0 : bounds[index - 1])
                    return Int((least + (Double(bound) - least) * (rank - below) / count).rounded())
                }
                below += count
            }
            return bounds.last ?? 0
        }
    }

    public struct Point: Sendable {
        /// The beginning, in seconds since 1970.
        public var at: Int
        /// In the order of the Actions' names.
        public var rates: [Rate]
    }

    /// The length of a minute in seconds.
    public static let interval = 60
    private static let most = 60

    private struct Total {
        var buckets = [UInt64](repeating: 0, count: DurationBounds.exchange.sum)
        var errors: UInt64 = 0
        var stepUps: UInt64 = 0
    }

    private var points: [Point] = []
    private var totals: [String: Total] = [:]
    private var since: Int

    /// - Parameter time: in seconds since 1970.
    public init(since time: Int) { since = time }

    /// Ends the running minute.
    public mutating func end(_ loops: [LoopMetrics], at time: Int) {
        let now = Self.totals(loops)
        points.append(Point(at: since, rates: rates(until: now)))
        if points.count >= Self.most { points.removeFirst() }
        (totals, since) = (now, time)
    }

    /// All minutes, the running one last.
    public func all(_ loops: [LoopMetrics]) -> [Point] {
        points + [Point(at: since, rates: rates(until: Self.totals(loops)))]
    }

    private static func totals(_ loops: [LoopMetrics]) -> [String: Total] {
        var totals: [String: Total] = [:]
        for loop in loops {
            for (key, values) in loop.exchanges.rows() {
                var total = totals[key.action] ?? Total()
                for index in total.buckets.indices { total.buckets[index] &+= values[index] }
                if key.status == 5 || key.status == 0 || key.error != MetricLabels.none {
                    total.errors &+= values[..<DurationBounds.exchange.sum].reduce(0, &+)
                }
                total.stepUps &+= values[LoopMetrics.stepUps]
                totals[key.action] = total
            }
        }
        return totals
    }

    private func rates(until now: [String: Total]) -> [Rate] {
        now.sorted { $0.key < $1.key }.compactMap { action, total in
            let before = totals[action] ?? Total()
            // another thread may be in the middle of an exchange, so a sum is not quite that of its parts
            let buckets = zip(total.buckets, before.buckets).map { $0 &- $1 }
            let requests = Int(truncatingIfNeeded: buckets.reduce(0, &+))
            guard requests > 0 else { return nil }
            return Rate(
                action: action == MetricLabels.none ? "" : action, requests: requests,
                errors: Int(truncatingIfNeeded: total.errors &- before.errors),
                stepUps: Int(truncatingIfNeeded: total.stepUps &- before.stepUps), buckets: buckets)
        }
    }
}
