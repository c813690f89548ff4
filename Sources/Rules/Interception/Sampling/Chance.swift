internal import Synchronization

/// A lock-free random number generator shared by all loops (SplitMix64). Equal seeds give equal sequences, in the order of calls.
public final class Chance: RandomNumberGenerator, Sendable {
    private let state: Atomic<UInt64>

    public init(seed: UInt64 = .random(in: 0 ... .max)) { state = Atomic(seed) }

    public func next() -> UInt64 {
        var bits = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
