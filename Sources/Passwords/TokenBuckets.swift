/// Token buckets: tries that run out and come back one by one, for each of many keys.
struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var tries: Double
        var at: Int
    }

    /// Tries that a key has at once.
    private let burst: Double
    /// Milliseconds until one comes back.
    private let interval: Double
    private let capacity: Int
    private var buckets: [Key: Bucket] = [:]

    /// - Parameter capacity: keys that are remembered; beyond it, those that have most of their tries left are forgotten.
    init(burst: Int, interval: Int, capacity: Int) {
        self.burst = Double(max(1, burst))
        self.interval = Double(max(1, interval))
        self.capacity = max(1, capacity)
    }

    var count: Int { buckets.count }

    /// Milliseconds until there is a try; none where there is one.
    func wait(_ key: Key, now: Int) -> Int {
        guard let bucket = buckets[key] else { return 0 }
        let left = tries(bucket, now)
        return left >= 1 ? 0 : max(1, Int(((1 - left) * interval).rounded(.up)))
    }

    mutating func take(_ key: Key, now: Int) {
        let left = buckets[key].map { tries($0, now) } ?? burst
        if buckets[key] == nil, buckets.count >= capacity { forget(now) }
        buckets[key] = Bucket(tries: max(0, left - 1), at: now)
    }

    /// The try did not count.
    mutating func giveBack(_ key: Key, now: Int) {
        guard let bucket = buckets[key] else { return }
        let left = min(burst, tries(bucket, now) + 1)
        // whoever has all of its tries needs no memory
        buckets[key] = left >= burst ? nil : Bucket(tries: left, at: now)
    }

    private func tries(_ bucket: Bucket, _ now: Int) -> Double {
        min(burst, bucket.tries + Double(max(0, now - bucket.at)) / interval)
    }

    /// Makes room for a quarter, so that it is not done for every key.
    private mutating func forget(_ now: Int) {
        let order = buckets.sorted { tries($0.value, now) > tries($1.value, now) }
        for (key, _) in order.prefix(max(1, capacity / 4)) { buckets[key] = nil }
    }
}
