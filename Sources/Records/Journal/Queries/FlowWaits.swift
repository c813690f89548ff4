/// The waits for future flows: each until a filter has accepted enough of them, a time has passed, or its caller has gone.
/// Callers limit their number.
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
    /// - missing: the count of flows still to come.
    /// - isWanted: returns true while the caller waits; called on any thread.
    public mutating func add(
        _ filter: FlowFilter, missing: Int, until: Int, isWanted: @escaping @Sendable () -> Bool, now: Int, _ told: Told
    ) {
        waits.removeAll { $0.isOver(now) }
        waits.append(Wait(filter: filter, missing: missing, until: until, isWanted: isWanted, told: told))
    }

    /// - Returns: the waits that are now satisfied.
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
