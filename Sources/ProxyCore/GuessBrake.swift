public import HTTPCodec

/// Makes guessing of passwords slow: each client address has a few tries, and gets them back one by one. A try is taken
/// before the password is checked and given back where it was right, so that many at once are no way around.
public struct GuessBrake: Sendable {
    private struct Bucket {
        var tries: Double
        var at: Int
    }

    /// Tries that an address has at once.
    private let burst: Double
    /// Milliseconds until one comes back.
    private let interval: Double
    private let capacity: Int
    private var buckets: [AddressBlock: Bucket] = [:]

    /// - Parameters:
    ///   - interval: milliseconds.
    ///   - capacity: addresses that are remembered; beyond it, those that have most of their tries left are forgotten.
    public init(burst: Int = 10, interval: Int = 5_000, capacity: Int = 4096) {
        self.burst = Double(max(1, burst))
        self.interval = Double(max(1, interval))
        self.capacity = max(1, capacity)
    }

    public var count: Int { buckets.count }

    /// Takes a try. Nil when there was one; else the milliseconds until the next.
    /// - Parameter now: milliseconds of one monotonic clock.
    public mutating func take(_ client: IPAddress?, now: Int) -> Int? {
        guard let network = client?.clientNetwork else { return nil }
        var bucket = buckets[network] ?? Bucket(tries: burst, at: now)
        bucket.tries = tries(bucket, now)
        bucket.at = now
        guard bucket.tries >= 1 else {
            buckets[network] = bucket
            return max(1, Int(((1 - bucket.tries) * interval).rounded(.up)))
        }
        bucket.tries -= 1
        if buckets[network] == nil, buckets.count >= capacity { forget(now) }
        buckets[network] = bucket
        return nil
    }

    /// The password was right: the try did not count.
    public mutating func giveBack(_ client: IPAddress?, now: Int) {
        guard let network = client?.clientNetwork, var bucket = buckets[network] else { return }
        bucket.tries = min(burst, tries(bucket, now) + 1)
        bucket.at = now
        buckets[network] = bucket.tries >= burst ? nil : bucket
    }

    private func tries(_ bucket: Bucket, _ now: Int) -> Double {
        min(burst, bucket.tries + Double(max(0, now - bucket.at)) / interval)
    }

    /// Makes room for a quarter, so that it is not done for every address.
    private mutating func forget(_ now: Int) {
        let order = buckets.sorted { tries($0.value, now) > tries($1.value, now) }
        for (network, _) in order.prefix(max(1, capacity / 4)) { buckets[network] = nil }
    }
}
