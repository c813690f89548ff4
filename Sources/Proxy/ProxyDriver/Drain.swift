/// The times of a drain: when idle connections close, and when the rest is cut off.
struct Drain {
    private(set) var isUnderWay = false
    private(set) var limit = Int.max
    private var idleLimit = Int.max

    /// - Parameter patience: how long connections without a request are kept, in milliseconds.
    mutating func begin(at now: Int, sparingIdleFor patience: Int, atMost longest: Int) {
        isUnderWay = true
        limit = now + longest
        idleLimit = now + patience
    }

    func closesIdle(at now: Int) -> Bool { now >= idleLimit }
    func cutsOff(at now: Int) -> Bool { now >= limit }
}
