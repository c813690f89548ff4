internal import Synchronization

/// Which of several answers an exchange gets. It counts for all loops, from the moment in which the configuration was taken over.
public final class TurnCounter: Sendable {
    /// How many exchanges get each but the last, which is for all that come after.
    private let times: [Int]
    private let count = Atomic(0)

    init(_ times: [Int]) { self.times = times }

    /// The place of the next exchange's answer.
    func next() -> Int {
        var left = count.load(ordering: .relaxed)
        // whoever comes behind them all need not be counted
        if left < times.reduce(0, +) { left = count.wrappingAdd(1, ordering: .relaxed).oldValue }
        for (place, times) in times.enumerated() {
            if left < times { return place }
            left -= times
        }
        return times.count
    }
}
