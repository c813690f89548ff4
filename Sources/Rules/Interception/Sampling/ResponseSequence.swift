internal import Synchronization

/// Selects one of several responses. It counts for all loops, from the moment the configuration was loaded.
public final class ResponseSequence: Sendable {
    /// The number of exchanges for each response except the last, which serves all later ones.
    private let times: [Int]
    private let count = Atomic(0)

    init(_ times: [Int]) { self.times = times }

    /// The same, from the first response on.
    var restarted: ResponseSequence { ResponseSequence(times) }

    /// The index of the next exchange's response.
    func next() -> Int {
        var left = count.load(ordering: .relaxed)
        // no need to count after the last turn
        if left < times.reduce(0, +) { left = count.wrappingAdd(1, ordering: .relaxed).oldValue }
        for (place, times) in times.enumerated() {
            if left < times { return place }
            left -= times
        }
        return times.count
    }
}
