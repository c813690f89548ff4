/// Says of most words that neither a secret begins with them nor one of some names is one, by one look. What it lets pass may be
/// none all the same.
struct BeginningFilter: Sendable {
    private var bits = [UInt64](repeating: 0, count: 1 << (Self.logarithm - 6))
    /// The signs that are part of no word and with which one begins, as bits.
    private(set) var signs: (UInt64, UInt64) = (0, 0)
    /// One of them is, or begins with, a word of fewer than three bytes, as hardly any does and many of a text do.
    private(set) var hasShortWords = false

    /// 16 KiB.
    private static let logarithm = 17
    private static let shift = UInt64(64 - logarithm)

    mutating func insert(_ name: WordKey) {
        if name.isShort { hasShortWords = true }
        let place = Self.place(name)
        bits[place >> 6] |= 1 << UInt64(place & 63)
    }

    /// The beginning of a text that is a secret, of 8 bytes at least.
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

    /// Whether a text begins with that sign that is a secret. Those outside ASCII always may.
    func hasSign(_ byte: UInt8) -> Bool {
        if byte >= 0x80 { return true }
        return (byte < 64 ? signs.0 : signs.1) &>> UInt64(byte & 63) & 1 != 0
    }

    /// The bits, for many questions in a row.
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
