internal import Synchronization

/// A `Sampling` at work. It counts for all loops, from the moment in which the configuration was taken over.
final class Sampler: Sendable {
    let sampling: Sampling
    /// Exchanges that fitted and were chosen.
    private let count = Atomic(0)

    init(_ sampling: Sampling) { self.sampling = sampling }

    /// Whether the next exchange that fits is taken.
    func takesNext(_ chance: inout some RandomNumberGenerator) -> Bool {
        if sampling.percent < 100 {
            guard Int.random(in: 0..<100, using: &chance) < sampling.percent else { return false }
        }
        guard sampling.first != nil || sampling.every > 1 else { return true }
        // whoever comes after the last that is taken need not be counted
        if let first = sampling.first, count.load(ordering: .relaxed) >= first { return false }
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        if let first = sampling.first, number > first { return false }
        return number % max(1, sampling.every) == 0
    }
}
