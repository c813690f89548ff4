/// The first bytes of a text as one number.
struct ByteWordKey: Hashable, Sendable {
    static let count = 8
    /// The first byte is the lowest.
    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    /// - Parameter bytes: at least `count` of them.
    init(_ bytes: ArraySlice<UInt8>) {
        bits = bytes.withUnsafeBytes { $0.count < Self.count ? 0 : $0.loadUnaligned(as: UInt64.self).littleEndian }
    }
}
