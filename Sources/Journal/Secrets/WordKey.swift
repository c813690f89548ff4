/// A word, by its first eight bytes; with its length, where it is shorter. Letters in either case are one, and so are others that
/// differ in the same bit.
struct WordKey: Equatable, Sendable {
    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    /// - Parameters:
    ///   - first: the bytes from its first on, which is the least; what is behind its end does not count.
    ///   - count: its bytes, one at least.
    @inline(__always)
    init(_ first: UInt64, _ count: Int) {
        let folded = first | 0x2020_2020_2020_2020
        guard count < 8 else {
            bits = folded
            return
        }
        let length = UInt64(truncatingIfNeeded: count)
        // the last byte of a short one is free for its length
        bits = folded & (1 &<< (length &* 8) &- 1) | length &<< 56
    }

    /// Of one or two bytes.
    var isShort: Bool { bits >> 56 < 3 }
}
