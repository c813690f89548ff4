/// When a loop that is to end closes connections that have no request, and when it cuts off what is still open.
struct Drain {
    private(set) var isUnderWay = false
    private(set) var limit = Int.max
    private var idleLimit = Int.max

    /// - Parameter patience: milliseconds for which connections without a request are kept.
    mutating func begin(at now: Int, sparingIdleFor patience: Int, atMost longest: Int) {
        isUnderWay = true
        limit = now + longest
        idleLimit = now + patience
    }

    func closesIdle(at now: Int) -> Bool { now >= idleLimit }
    func cutsOff(at now: Int) -> Bool { now >= limit }
}
