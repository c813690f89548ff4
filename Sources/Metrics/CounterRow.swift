internal import Synchronization

/// A row of counters that one thread writes and any other reads. No lock and no locked instruction: whoever reads sees each
/// of them as it was a moment ago.
final class CounterRow: @unchecked Sendable {
    // the memory is there from the beginning to the end, and every access to it is atomic
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

    /// For the thread that writes alone.
    @inline(__always)
    func add(_ index: Int, _ amount: UInt64 = 1) {
        guard index >= 0, index < count else { return }
        let value = cells[index].load(ordering: .relaxed)
        cells[index].store(value &+ amount, ordering: .relaxed)
    }

    /// For the thread that writes alone.
    func set(_ index: Int, _ value: UInt64) {
        guard index >= 0, index < count else { return }
        cells[index].store(value, ordering: .relaxed)
    }

    func value(_ index: Int) -> UInt64 {
        guard index >= 0, index < count else { return 0 }
        return cells[index].load(ordering: .relaxed)
    }
}
