/// How long to wait before something is tried again.
public struct Backoff: Equatable, Sendable {
    /// Before the second attempt, in milliseconds.
    public var first: Int
    /// How much longer each wait is than the one before it; 1 for waits of one length.
    public var factor: Double
    /// No wait is longer, in milliseconds.
    public var cap: Int
    /// The part of a wait that chance decides on, from 0 to 1: with 1 it has any length up to the whole.
    public var jitter: Double

    public init(first: Int, factor: Double = 1, cap: Int = 3_600_000, jitter: Double = 0) {
        self.first = first
        self.factor = factor
        self.cap = cap
        self.jitter = jitter
    }

    /// - Parameters:
    ///   - attempt: how many attempts were made, the first being 1.
    ///   - chance: what the jitter is taken from.
    /// - Returns: milliseconds, from 0 to the cap.
    public func delay(after attempt: Int, chance: inout some RandomNumberGenerator) -> Int {
        var wait = Double(max(0, first))
        let bound = Double(max(0, cap))
        // waits grow past any cap within a few steps, or never: a factor below 1 makes them shrink to nothing
        if factor != 1 {
            for _ in 1..<max(2, min(attempt, 64)) where attempt > 1 { wait = min(wait * max(0, factor), bound) }
        }
        // nothing times without end is no number
        wait = wait.isNaN ? bound : min(wait, bound)
        let decided = wait * min(max(jitter, 0), 1)
        guard decided > 0 else { return Int(wait) }
        return Int(wait - decided * Double.random(in: 0..<1, using: &chance))
    }
}
