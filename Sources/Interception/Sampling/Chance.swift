internal import Synchronization

/// Random numbers that all loops share without waiting for one another (SplitMix64). From one seed come the same numbers, in
/// the order in which they are asked for.
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
