/// Tries that run out and come back one by one.
public struct TokenBucket: Sendable {
    /// How many there are at once, and how fast they come back.
    public struct Measure: Equatable, Sendable {
        public let burst: Double
        /// Milliseconds until one comes back.
        public let interval: Double

        public init(burst: Double, interval: Double) {
            self.burst = burst
            self.interval = interval
        }
    }

    private var tries: Double
    private var at: Int

    /// A full one.
    public init(_ measure: Measure, now: Int) {
        tries = measure.burst
        at = now
    }

    /// How many there are.
    public func left(_ measure: Measure, now: Int) -> Double {
        min(measure.burst, tries + Double(max(0, now - at)) / measure.interval)
    }

    public func isFull(_ measure: Measure, now: Int) -> Bool { left(measure, now: now) >= measure.burst }

    /// Milliseconds until there are so many; none where there are.
    public func wait(for count: Int = 1, _ measure: Measure, now: Int) -> Int {
        let lack = Double(count) - left(measure, now: now)
        // what is lacking for the want of digits is there
        let time = (lack * measure.interval - 1e-6).rounded(.up)
        return time <= 0 ? 0 : Int(min(time, 1e15))
    }

    public mutating func take(_ measure: Measure, now: Int) {
        tries = max(0, left(measure, now: now) - 1)
        at = now
    }

    /// The try did not count.
    public mutating func giveBack(_ measure: Measure, now: Int) {
        tries = min(measure.burst, left(measure, now: now) + 1)
        at = now
    }
}
