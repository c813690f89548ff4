/// Values by id, each with the same life in seconds, the oldest dropped first when there are too many.
struct ExpiringTable<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var expires: Int
    }

    private var entries: [String: Entry] = [:]
    /// Ids in the order of their end; those before `first` are gone.
    private var order: [String] = []
    private var first = 0
    private let lifetime: Int
    private let capacity: Int

    init(lifetime: Int, capacity: Int = 100_000) {
        self.lifetime = lifetime
        self.capacity = capacity
    }

    func value(_ id: String, now: Int) -> Value? {
        guard let entry = entries[id], now < entry.expires else { return nil }
        return entry.value
    }

    /// Adds a value under an id that was never used before.
    mutating func insert(_ value: Value, id: String, now: Int) {
        sweep(now: now)
        entries[id] = Entry(value: value, expires: now + lifetime)
        order.append(id)
    }

    /// Replaces a value without changing its end. Nothing happens where it is gone.
    mutating func replace(_ id: String, _ value: Value) {
        entries[id]?.value = value
    }

    @discardableResult
    mutating func remove(_ id: String) -> Value? { entries.removeValue(forKey: id)?.value }

    mutating func removeAll(where matches: (Value) -> Bool) {
        entries = entries.filter { !matches($0.value.value) }
    }

    private mutating func sweep(now: Int) {
        while first < order.count {
            let id = order[first]
            if let entry = entries[id], now < entry.expires, entries.count < capacity { break }
            entries[id] = nil
            first += 1
        }
        if first > 1024, first * 2 > order.count {
            order.removeFirst(first)
            first = 0
        }
    }
}
