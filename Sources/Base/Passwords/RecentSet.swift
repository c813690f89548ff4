/// A bounded set that forgets values after a while.
public struct RecentSet<Value: Hashable & Sendable>: Sendable {
    private var entries: [Value: Int] = [:]
    private let life: Int
    private let capacity: Int

    /// - Parameter life: milliseconds until a value is forgotten, unless it is remembered again.
    public init(life: Int, capacity: Int) {
        self.life = life
        self.capacity = max(1, capacity)
    }

    public var count: Int { entries.count }

    /// - Parameter now: milliseconds of a monotonic clock.
    public func holds(_ value: Value, now: Int) -> Bool { entries[value].map { now < $0 } ?? false }

    public mutating func remember(_ value: Value, now: Int) {
        if entries.count >= capacity, entries[value] == nil {
            entries = entries.filter { now < $0.value }
            if entries.count >= capacity {
                // removes a quarter at once, so that it runs rarely
                let oldest = entries.sorted { $0.value < $1.value }.prefix(max(1, capacity / 4))
                for (value, _) in oldest { entries[value] = nil }
            }
        }
        entries[value] = now + life
    }
}
