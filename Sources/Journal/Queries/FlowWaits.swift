/// Who waits for flows that are to come: each for so many that a filter accepts, and no longer than until a time or than somebody
/// wants to know. How many do is for those to bound who let them come.
public struct FlowWaits<Told: Sendable>: Sendable {
    private struct Wait: Sendable {
        let filter: FlowFilter
        var missing: Int
        let until: Int
        let isWanted: @Sendable () -> Bool
        let told: Told

        func isOver(_ now: Int) -> Bool { until <= now || !isWanted() }
    }

    private var waits: [Wait] = []

    public init() {}

    public var count: Int { waits.count }

    /// - Parameters:
    ///   - missing: how many have yet to come.
    ///   - isWanted: somebody waits still; from any thread.
    public mutating func add(
        _ filter: FlowFilter, missing: Int, until: Int, isWanted: @escaping @Sendable () -> Bool, now: Int, _ told: Told
    ) {
        waits.removeAll { $0.isOver(now) }
        waits.append(Wait(filter: filter, missing: missing, until: until, isWanted: isWanted, told: told))
    }

    /// - Returns: whom to tell, for what they waited for is there.
    public mutating func take(_ flows: [PackedFlow], now: Int) -> [Told] {
        var told: [Told] = []
        waits = waits.compactMap { wait in
            guard !wait.isOver(now) else { return nil }
            var wait = wait
            for flow in flows where wait.missing > 0 && wait.filter.accepts(flow) { wait.missing -= 1 }
            guard wait.missing == 0 else { return wait }
            told.append(wait.told)
            return nil
        }
        return told
    }
}
