/// Who waits for flows that are to come: each for so many that a filter accepts, and no longer than until a time.
public struct FlowWaits<Told: Sendable>: Sendable {
    private struct Wait: Sendable {
        let filter: FlowFilter
        var missing: Int
        let until: Int
        let told: Told
    }

    private var waits: [Wait] = []
    /// So many wait at a time.
    private let most: Int

    public init(most: Int) { self.most = most }

    public var isEmpty: Bool { waits.isEmpty }

    /// - Parameter missing: how many have yet to come.
    /// - Returns: false where too many wait.
    public mutating func add(_ filter: FlowFilter, missing: Int, until: Int, now: Int, _ told: Told) -> Bool {
        waits.removeAll { $0.until <= now }
        guard waits.count < most else { return false }
        waits.append(Wait(filter: filter, missing: missing, until: until, told: told))
        return true
    }

    /// - Returns: whom to tell, for what they waited for is there.
    public mutating func take(_ flows: [PackedFlow], now: Int) -> [Told] {
        var told: [Told] = []
        waits = waits.compactMap { wait in
            guard wait.until > now else { return nil }
            var wait = wait
            for flow in flows where wait.missing > 0 && wait.filter.accepts(flow) { wait.missing -= 1 }
            guard wait.missing == 0 else { return wait }
            told.append(wait.told)
            return nil
        }
        return told
    }
}
