internal import Synchronization

/// Rows of counters under labels that are not known beforehand: a place is taken with the first of its kind, and there are no
/// more than so many. One thread writes; any other reads.
final class Series<Key: Hashable & Sendable>: @unchecked Sendable {
    // a key is written before `used` tells of it and never after; `places` is for the thread that writes alone
    private let keys: UnsafeMutablePointer<Key>
    private let counters: CounterRow
    private let used = Atomic<Int>(0)
    private var places: [Key: Int] = [:]
    private let capacity: Int
    private let width: Int
    /// Places that are kept for what stands in for others.
    private let reserve: Int

    /// - Parameters:
    ///   - reserve: how many of the places are for what stands in for others.
    ///   - width: counters in each row.
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

    /// For the thread that writes alone.
    /// - Parameter rest: stands in where there is no room for another.
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

    /// For the thread that writes alone.
    @inline(__always)
    func add(_ place: Int, _ column: Int, _ amount: UInt64 = 1) { counters.add(place &* width &+ column, amount) }

    /// The rows that there are, each with what it counted.
    func rows() -> [(key: Key, values: [UInt64])] {
        (0..<used.load(ordering: .acquiring)).map { place in
            (keys[place], (0..<width).map { counters.value(place * width + $0) })
        }
    }
}
