/// Words that may name a secret or begin one. A word counts by its first eight bytes, or by all and its length; case is ignored.
struct WordTable: Sendable {
    /// The bytes of a word that count.
    static let size = 8
    /// Names of this length and more are told apart no further.
    private static let longest = 63

    /// One slot for each hash, followed by those it displaced; 0 if free.
    private var keys: [UInt64]
    /// By slot: bit n is set for a name of n bytes, bit 0 for the beginning of a secret.
    private var lengths: [UInt64]
    private var count = 0
    /// The non-word bytes that secrets start with, as bits.
    private var signs: (UInt64, UInt64) = (0, 0)
    /// True if some entry is or starts with a word of fewer than three bytes. This is rare, and short words are frequent in
    /// texts.
    private(set) var hasShortWords = false

    private init(slots: Int) {
        keys = [UInt64](repeating: 0, count: slots)
        lengths = keys
    }

    init(_ names: some Sequence<[UInt8]> = []) {
        self.init(slots: 64)
        for name in names where !name.isEmpty {
            insert(Self.key(Self.beginning(of: name[...]), name.count), 1 << UInt64(min(name.count, Self.longest)))
        }
    }

    /// The first eight bytes; the first one is the lowest, and those beyond the end are 0.
    static func beginning(of text: ArraySlice<UInt8>) -> UInt64 {
        text.prefix(size).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// - Parameters:
    /// - first: the bytes from the first on, which is the lowest; bytes beyond the word are ignored.
    /// - count: the length, at least one.
    @inline(__always)
    private static func key(_ first: UInt64, _ count: Int) -> UInt64 {
        let folded = first | 0x2020_2020_2020_2020
        guard count < size else { return folded }
        let length = UInt64(truncatingIfNeeded: count)
        // the last byte of a short word is free for the length
        return folded & (1 &<< (length &* 8) &- 1) | length &<< 56
    }

    /// Inserts the beginning of a secret, at least eight bytes.
    mutating func insert(beginning: UInt64) {
        let bytes = (0..<Self.size).map { UInt8(truncatingIfNeeded: beginning >> UInt64($0 * 8)) }
        let count = bytes.prefix(while: ByteClasses.isWord).count
        if count > 0 {
            insert(Self.key(beginning, count), 1)
        } else if bytes[0] < 64 {
            signs.0 |= 1 << UInt64(bytes[0])
        } else if bytes[0] < 128 {
            signs.1 |= 1 << UInt64(bytes[0] - 64)
        }
    }

    private mutating func insert(_ key: UInt64, _ bits: UInt64) {
        if key >> 56 < 3 { hasShortWords = true }
        if count * 4 >= keys.count { grow() }
        let slot = slot(of: key)
        if keys[slot] == 0 { count += 1 }
        keys[slot] = key
        lengths[slot] |= bits
    }

    private mutating func grow() {
        let (keys, lengths) = (keys, lengths)
        self.keys = [UInt64](repeating: 0, count: keys.count * 2)
        self.lengths = self.keys
        for (key, bits) in zip(keys, lengths) where key != 0 {
            let slot = slot(of: key)
            (self.keys[slot], self.lengths[slot]) = (key, bits)
        }
    }

    /// The slot of a key, or the free one where it belongs.
    @inline(__always)
    private func slot(of key: UInt64) -> Int {
        let mask = keys.count &- 1
        var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) &>> 32) & mask
        while keys[slot] != 0, keys[slot] != key { slot = (slot &+ 1) & mask }
        return slot
    }

    /// What a word may be.
    /// - Parameter first: its first bytes, with any behind them.
    @inline(__always)
    func look(_ first: UInt64, _ count: Int) -> (isName: Bool, isBeginning: Bool) {
        let slot = slot(of: Self.key(first, count))
        guard keys[slot] != 0 else { return (false, false) }
        return (lengths[slot] &>> UInt64(truncatingIfNeeded: min(count, Self.longest)) & 1 == 1, lengths[slot] & 1 == 1)
    }

    /// Whether a secret may begin at a place.
    /// - Parameter end: the end of the word there.
    func mayBegin(_ text: [UInt8], _ place: Int, _ end: Int) -> Bool {
        guard text.count - place >= Self.size else { return false }
        guard ByteClasses.isWord(text[place]) else { return hasSign(text[place]) }
        let first = text.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian }
        return look(first, end - place).isBeginning
    }

    var hasSigns: Bool { signs.0 | signs.1 != 0 }

    /// Whether some secret starts with this byte. Non-ASCII bytes always count.
    func hasSign(_ byte: UInt8) -> Bool {
        if byte >= 0x80 { return true }
        return (byte < 64 ? signs.0 : signs.1) &>> UInt64(byte & 63) & 1 != 0
    }
}
