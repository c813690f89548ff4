/// The waits between attempts.
public struct Backoff: Equatable, Sendable {
    /// In milliseconds, before the second attempt.
    public var first: Int
    /// The ratio of each wait to the one before; 1 for constant waits.
    public var factor: Double
    /// The longest wait, in milliseconds.
    public var cap: Int
    /// The random part of a wait, from 0 to 1. With 1, a wait has any length up to the full one.
    public var jitter: Double

    public init(first: Int, factor: Double = 1, cap: Int = 3_600_000, jitter: Double = 0) {
        self.first = first
        self.factor = factor
        self.cap = cap
        self.jitter = jitter
    }

    /// - Parameters:
    ///   - attempt: the number of attempts made, at least 1.
    ///   - chance: the source of the jitter.
    /// - Returns: milliseconds, from 0 to the cap.
    public func delay(after attempt: Int, chance: inout some RandomNumberGenerator) -> Int {
        var wait = Double(max(0, first))
        let bound = Double(max(0, cap))
        // waits reach any cap within a few steps, or never; a factor below 1 makes them shrink
        if factor != 1 {
            for _ in 1..<max(2, min(attempt, 64)) where attempt > 1 { wait = min(wait * max(0, factor), bound) }
        }
        // zero times infinity is not a number
        wait = wait.isNaN ? bound : min(wait, bound)
        let decided = wait * min(max(jitter, 0), 1)
        guard decided > 0 else { return Int(wait) }
        return Int(wait - decided * Double.random(in: 0..<1, using: &chance))
    }
}
