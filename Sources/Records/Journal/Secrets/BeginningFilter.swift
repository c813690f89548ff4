/// A Bloom-like filter for words: a negative result proves that the word is no secret's beginning and no known name. A positive
/// one may be wrong.
struct BeginningFilter: Sendable {
    private var bits = [UInt64](repeating: 0, count: 1 << (Self.logarithm - 6))
    /// The non-word bytes that secrets start with, as bits.
    private(set) var signs: (UInt64, UInt64) = (0, 0)
    /// True if some entry is or starts with a word of fewer than three bytes. This is rare, and short words are frequent in
    /// texts.
    private(set) var hasShortWords = false

    /// 16 KiB.
    private static let logarithm = 17
    private static let shift = UInt64(64 - logarithm)

    mutating func insert(_ name: WordKey) {
        if name.isShort { hasShortWords = true }
        let place = Self.place(name)
        bits[place >> 6] |= 1 << UInt64(place & 63)
    }

    /// Inserts the beginning of a secret, at least 8 bytes.
    mutating func insert(beginning: ByteWordKey) {
        let first = UInt8(truncatingIfNeeded: beginning.bits)
        if ByteClasses.isWord(first) {
            var count = 1
            while count < ByteWordKey.count,
                ByteClasses.isWord(UInt8(truncatingIfNeeded: beginning.bits >> UInt64(count * 8)))
            {
                count += 1
            }
            insert(WordKey(beginning.bits, count))
        } else if first < 64 {
            signs.0 |= 1 << UInt64(first)
        } else if first < 128 {
            signs.1 |= 1 << UInt64(first - 64)
        }
    }

    var hasSigns: Bool { signs.0 | signs.1 != 0 }

    /// Whether some secret starts with this byte. Non-ASCII bytes always count.
    func hasSign(_ byte: UInt8) -> Bool {
        if byte >= 0x80 { return true }
        return (byte < 64 ? signs.0 : signs.1) &>> UInt64(byte & 63) & 1 != 0
    }

    /// The bits, for many look-ups in a row.
    struct Questions {
        fileprivate let bits: UnsafeBufferPointer<UInt64>

        @inline(__always)
        func mayContain(_ word: WordKey) -> Bool {
            let place = BeginningFilter.place(word)
            return bits[place &>> 6] &>> UInt64(truncatingIfNeeded: place & 63) & 1 != 0
        }
    }

    @inline(__always)
    func ask<Answer>(_ body: (Questions) -> Answer) -> Answer {
        bits.withUnsafeBufferPointer { body(Questions(bits: $0)) }
    }

    @inline(__always)
    fileprivate static func place(_ key: WordKey) -> Int {
        Int(truncatingIfNeeded: (key.bits &* 0x9E37_79B9_7F4A_7C15) &>> shift)
    }
}
