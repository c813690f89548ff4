/// A word by its first eight bytes, or by all bytes and its length if it is shorter. Case is ignored, as is the same bit of other
/// bytes.
struct WordKey: Equatable, Sendable {
    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    /// - Parameters:
    /// - first: the bytes from the first on, which is the lowest; bytes beyond the word are ignored.
    /// - count: the length, at least one.
    @inline(__always)
    init(_ first: UInt64, _ count: Int) {
        let folded = first | 0x2020_2020_2020_2020
        guard count < 8 else {
            bits = folded
            return
        }
        let length = UInt64(truncatingIfNeeded: count)
        // the last byte of a short word is free for the length
        bits = folded & (1 &<< (length &* 8) &- 1) | length &<< 56
    }

    /// True for one or two bytes.
    var isShort: Bool { bits >> 56 < 3 }
}
