internal import Synchronization

/// A row of counters that one thread writes and any thread reads, without a lock. A reader may see values a moment old.
final class CounterRow: @unchecked Sendable {
    // the memory lives as long as the object, and every access is atomic
    private let cells: UnsafeMutablePointer<Atomic<UInt64>>
    let count: Int

    init(_ count: Int) {
        self.count = max(1, count)
        cells = .allocate(capacity: self.count)
        for index in 0..<self.count { (cells + index).initialize(to: Atomic<UInt64>(0)) }
    }

    deinit {
        cells.deinitialize(count: count)
        cells.deallocate()
    }

    /// Adds to a counter. For the writing thread alone.
    @inline(__always)
    func add(_ index: Int, _ amount: UInt64 = 1) {
        guard index >= 0, index < count else { return }
        let value = cells[index].load(ordering: .relaxed)
        cells[index].store(value &+ amount, ordering: .relaxed)
    }

    /// Sets a counter. For the writing thread alone.
    func set(_ index: Int, _ value: UInt64) {
        guard index >= 0, index < count else { return }
        cells[index].store(value, ordering: .relaxed)
    }

    func value(_ index: Int) -> UInt64 {
        guard index >= 0, index < count else { return 0 }
        return cells[index].load(ordering: .relaxed)
    }
}
