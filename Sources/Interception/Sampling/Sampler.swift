internal import Synchronization

/// A `Sampling` at work. It counts for all loops, from the moment in which the configuration was taken over.
final class Sampler: Sendable {
    let sampling: Sampling
    /// Exchanges that fitted and were chosen.
    private let count = Atomic(0)

    /// Its own, where the choice is to be the same each time: the numbers come in the order in which exchanges fit.
    private let own: Chance?

    init(_ sampling: Sampling) {
        self.sampling = sampling
        own = sampling.seed.map { Chance(seed: UInt64(bitPattern: Int64($0))) }
    }

    /// Whether the next exchange that fits is taken.
    func takesNext(_ chance: inout some RandomNumberGenerator) -> Bool {
        if sampling.percent < 100 {
            guard draw(&chance) < sampling.percent else { return false }
        }
        guard sampling.first != nil || sampling.every > 1 else { return true }
        // whoever comes after the last that is taken need not be counted
        if let first = sampling.first, count.load(ordering: .relaxed) >= first { return false }
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        if let first = sampling.first, number > first { return false }
        return number % max(1, sampling.every) == 0
    }

    private func draw(_ chance: inout some RandomNumberGenerator) -> Int {
        guard var own else { return Int.random(in: 0..<100, using: &chance) }
        return Int.random(in: 0..<100, using: &own)
    }
}
