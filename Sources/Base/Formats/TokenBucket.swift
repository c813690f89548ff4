/// A token bucket: it has a number of tries, which come back one by one.
public struct TokenBucket: Sendable {
    /// The size of a bucket and the rate at which tries come back.
    public struct Measure: Equatable, Sendable {
        public let burst: Double
        /// Milliseconds until one try comes back.
        public let interval: Double

        public init(burst: Double, interval: Double) {
            self.burst = burst
            self.interval = interval
        }
    }

    private var tries: Double
    private var at: Int

    /// Creates a full bucket.
    public init(_ measure: Measure, now: Int) {
        tries = measure.burst
        at = now
    }

    /// The number of tries left.
    public func left(_ measure: Measure, now: Int) -> Double {
        min(measure.burst, tries + Double(max(0, now - at)) / measure.interval)
    }

    public func isFull(_ measure: Measure, now: Int) -> Bool { left(measure, now: now) >= measure.burst }

    /// Milliseconds until `count` tries are left; 0 if they are.
    public func wait(for count: Int = 1, _ measure: Measure, now: Int) -> Int {
        let lack = Double(count) - left(measure, now: now)
        // ignores what is missing through rounding
        let time = (lack * measure.interval - 1e-6).rounded(.up)
        return time <= 0 ? 0 : Int(min(time, 1e15))
    }

    public mutating func take(_ measure: Measure, now: Int) {
        tries = max(0, left(measure, now: now) - 1)
        at = now
    }

    /// Returns a try that does not count.
    public mutating func giveBack(_ measure: Measure, now: Int) {
        tries = min(measure.burst, left(measure, now: now) + 1)
        at = now
    }
}
