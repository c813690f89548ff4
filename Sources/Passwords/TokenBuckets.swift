import Formats

/// Token buckets: tries that run out and come back one by one, for each of many keys.
struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    private let measure: TokenBucket.Measure
    private let capacity: Int
    private var buckets: [Key: TokenBucket] = [:]

    /// - Parameters:
    ///   - burst: tries that a key has at once.
    ///   - interval: milliseconds until one comes back.
    ///   - capacity: keys that are remembered; beyond it, those that have most of their tries left are forgotten.
    init(burst: Int, interval: Int, capacity: Int) {
        measure = TokenBucket.Measure(burst: Double(max(1, burst)), interval: Double(max(1, interval)))
        self.capacity = max(1, capacity)
    }

    var count: Int { buckets.count }

    /// Milliseconds until there is a try; none where there is one.
    func wait(_ key: Key, now: Int) -> Int { buckets[key]?.wait(measure, now: now) ?? 0 }

    mutating func take(_ key: Key, now: Int) {
        var bucket = buckets[key] ?? TokenBucket(measure, now: now)
        if buckets[key] == nil, buckets.count >= capacity { forget(now) }
        bucket.take(measure, now: now)
        buckets[key] = bucket
    }

    /// The try did not count.
    mutating func giveBack(_ key: Key, now: Int) {
        guard var bucket = buckets[key] else { return }
        bucket.giveBack(measure, now: now)
        // whoever has all of its tries needs no memory
        buckets[key] = bucket.isFull(measure, now: now) ? nil : bucket
    }

    /// Makes room for a quarter, so that it is not done for every key.
    private mutating func forget(_ now: Int) {
        let order = buckets.sorted { $0.value.left(measure, now: now) > $1.value.left(measure, now: now) }
        for (key, _) in order.prefix(max(1, capacity / 4)) { buckets[key] = nil }
    }
}
