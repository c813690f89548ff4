internal import Synchronization

/// Applies a `Sampling`. It counts for all loops, from the moment the configuration was loaded.
final class Sampler: Sendable {
    let sampling: Sampling
    /// The number of matching exchanges that chance has selected.
    private let count = Atomic(0)

    /// The generator of a seeded sampling, whose numbers follow the order of matching exchanges.
    private let own: Chance?

    init(_ sampling: Sampling) {
        self.sampling = sampling
        own = sampling.seed.map { Chance(seed: UInt64(bitPattern: Int64($0))) }
    }

    /// Whether to take the next matching exchange.
    func takesNext(_ chance: inout some RandomNumberGenerator) -> Bool {
        if sampling.percent < 100 {
            guard draw(&chance) < sampling.percent else { return false }
        }
        guard sampling.first != nil || sampling.every > 1 else { return true }
        // no need to count after the last one
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
