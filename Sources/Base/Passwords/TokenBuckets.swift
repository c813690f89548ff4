import Formats

/// One token bucket for each of many keys.
struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    private let measure: TokenBucket.Measure
    private let capacity: Int
    private var buckets: [Key: TokenBucket] = [:]

    /// - Parameters:
    ///   - burst: tries of a full bucket.
    ///   - interval: milliseconds until one try comes back.
    ///   - capacity: the most keys; beyond it, those with most tries left are forgotten.
    init(burst: Int, interval: Int, capacity: Int) {
        measure = TokenBucket.Measure(burst: Double(max(1, burst)), interval: Double(max(1, interval)))
        self.capacity = max(1, capacity)
    }

    var count: Int { buckets.count }

    /// Milliseconds until a try is left; 0 if one is.
    func wait(_ key: Key, now: Int) -> Int { buckets[key]?.wait(measure, now: now) ?? 0 }

    mutating func take(_ key: Key, now: Int) {
        var bucket = buckets[key] ?? TokenBucket(measure, now: now)
        if buckets[key] == nil, buckets.count >= capacity { forget(now) }
        bucket.take(measure, now: now)
        buckets[key] = bucket
    }

    /// Returns a try that does not count.
    mutating func giveBack(_ key: Key, now: Int) {
        guard var bucket = buckets[key] else { return }
        bucket.giveBack(measure, now: now)
        // a full bucket needs no entry
        buckets[key] = bucket.isFull(measure, now: now) ? nil : bucket
    }

    /// Removes a quarter of the keys, so that it runs rarely.
    private mutating func forget(_ now: Int) {
        let order = buckets.sorted { $0.value.left(measure, now: now) > $1.value.left(measure, now: now) }
        for (key, _) in order.prefix(max(1, capacity / 4)) { buckets[key] = nil }
    }
}
