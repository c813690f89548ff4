/// The first bytes of a text, as one number.
struct ByteWordKey: Hashable, Sendable {
    static let count = 8
    /// The first byte is the least.
    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    /// - Parameter bytes: `count` of them at least.
    init(_ bytes: ArraySlice<UInt8>) {
        bits = bytes.prefix(Self.count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Says of most beginnings that they are none of a set, by one look.
struct BeginningFilter: Sendable {
    private var bits = [UInt64](repeating: 0, count: 1024)

    mutating func insert(_ key: ByteWordKey) {
        let place = Self.place(key)
        bits[place >> 6] |= 1 << UInt64(place & 63)
    }

    func mayContain(_ key: ByteWordKey) -> Bool {
        let place = Self.place(key)
        return bits[place >> 6] & 1 << UInt64(place & 63) != 0
    }

    private static func place(_ key: ByteWordKey) -> Int {
        Int(truncatingIfNeeded: (key.bits &* 0x9E37_79B9_7F4A_7C15) >> 48)
    }
}
