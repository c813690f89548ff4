internal import Synchronization

/// Rows of counters by key, for keys not known beforehand. A key takes a place when it first occurs; the number of places
/// is limited. One thread writes, any thread reads.
final class Series<Key: Hashable & Sendable>: @unchecked Sendable {
    // a key is written before `used` covers it and then never changed; `places` belongs to the writing thread
    private let keys: UnsafeMutablePointer<Key>
    private let counters: CounterRow
    private let used = Atomic<Int>(0)
    private var places: [Key: Int] = [:]
    private let capacity: Int
    private let width: Int
    /// Places reserved for keys that stand in for others.
    private let reserve: Int

    /// - Parameters:
    ///   - reserve: the places reserved for keys that stand in for others.
    ///   - width: the counters in each row.
    init(capacity: Int, reserve: Int, width: Int) {
        self.capacity = capacity
        self.reserve = reserve
        self.width = width
        keys = .allocate(capacity: capacity)
        counters = CounterRow(capacity * width)
    }

    deinit {
        keys.deinitialize(count: used.load(ordering: .relaxed))
        keys.deallocate()
    }

    /// Returns the place of a key. For the writing thread alone.
    /// - Parameter rest: the key that stands in if there is no place.
    func place(of key: Key, orElse rest: @autoclosure () -> Key) -> Int {
        if let place = places[key] { return place }
        if places.count < capacity - reserve { return take(key) }
        let rest = rest()
        if let place = places[rest] { return place }
        return places.count < capacity ? take(rest) : capacity - 1
    }

    private func take(_ key: Key) -> Int {
        let place = places.count
        (keys + place).initialize(to: key)
        places[key] = place
        used.store(place + 1, ordering: .releasing)
        return place
    }

    /// Adds to a counter. For the writing thread alone.
    @inline(__always)
    func add(_ place: Int, _ column: Int, _ amount: UInt64 = 1) { counters.add(place &* width &+ column, amount) }

    /// All keys with their counters.
    func rows() -> [(key: Key, values: [UInt64])] {
        (0..<used.load(ordering: .acquiring)).map { place in
            (keys[place], (0..<width).map { counters.value(place * width + $0) })
        }
    }
}
