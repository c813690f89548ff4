/// Ways to cut an input, so that every parser is shown the same bytes whole, byte by byte and in random splits.
public enum Pieces {
    /// The ends of the pieces of `count` bytes; the last one is `count`.
    public static func cuts(_ count: Int) -> [[Int]] {
        guard count > 0 else { return [[0]] }
        var ways = [[count], Array(1...count)]
        var random = SplitMix(state: UInt64(count))
        for _ in 0..<24 {
            var ends: [Int] = []
            var end = 0
            while end < count {
                end = min(count, end + 1 + Int(random.next() % 17))
                ends.append(end)
            }
            ways.append(ends)
        }
        return ways
    }
}

/// A small generator with a known start: a failing split can be seen again.
public struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    public init(state: UInt64) { self.state = state }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
