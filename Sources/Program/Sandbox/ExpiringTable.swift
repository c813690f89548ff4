/// Values by id with the same lifetime in seconds. The oldest are dropped if there are too many.
struct ExpiringTable<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var expires: Int
    }

    private var entries: [String: Entry] = [:]
    /// The ids by expiry. Those before `first` are gone.
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

    /// Adds a value under a new id.
    mutating func insert(_ value: Value, id: String, now: Int) {
        sweep(now: now)
        entries[id] = Entry(value: value, expires: now + lifetime)
        order.append(id)
    }

    /// Replaces a value and keeps its expiry. Does nothing if the value is gone.
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
