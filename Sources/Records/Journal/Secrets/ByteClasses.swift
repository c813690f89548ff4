/// Classifies 64 bytes at a time: one bit for each, the first byte in the lowest bit.
enum ByteClasses {
    static let count = 64

    private typealias Lanes = SIMD4<UInt64>

    /// The bytes of words: letters, digits, `-` and `_`, as in names and tokens.
    @inline(__always)
    static func isWord(_ byte: UInt8) -> Bool {
        let bits: UInt64 = byte < 64 ? 0x03FF_2000_0000_0000 : 0x07FF_FFFE_87FF_FFFE
        return byte < 0x80 && bits >> UInt64(byte & 63) & 1 != 0
    }

    /// - Parameter text: bytes beyond its end count as no class.
    /// - Returns: the word bytes from a place on; and whether there are bytes that escape others or end a password: `%`, `\\`,
    ///   `#` and `@`.
    @inline(__always)
    static func of(_ text: UnsafeRawBufferPointer, at place: Int) -> (words: UInt64, escapes: Bool) {
        guard text.count &- place < count else { return of(text, whole: place) }
        return rest(text, place)
    }

    private static func rest(_ text: UnsafeRawBufferPointer, _ place: Int) -> (words: UInt64, escapes: Bool) {
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { block in
            block.initializeMemory(as: UInt8.self, repeating: 0)
            block.copyMemory(from: UnsafeRawBufferPointer(rebasing: text[place...]))
            return of(UnsafeRawBufferPointer(block), whole: 0)
        }
    }

    @inline(__always)
    private static func of(_ text: UnsafeRawBufferPointer, whole place: Int) -> (words: UInt64, escapes: Bool) {
        let first = kinds(text.loadUnaligned(fromByteOffset: place, as: Lanes.self))
        let second = kinds(text.loadUnaligned(fromByteOffset: place &+ 32, as: Lanes.self))
        let escapes = first.escapes | second.escapes
        return (
            gather(first.words) | gather(second.words) &<< 32, (escapes[0] | escapes[1] | escapes[2] | escapes[3]) != 0
        )
    }

    /// Sets the top bit of each matching byte. Sums of seven bits do not overflow into the next byte.
    @inline(__always)
    private static func kinds(_ lanes: Lanes) -> (words: Lanes, escapes: Lanes) {
        let low = lanes & all(0x7F)
        let folded = low | all(0x20)
        let letters = (folded &+ all(0x1F)) & ~(folded &+ all(0x05))
        let digits = (low &+ all(0x50)) & ~(low &+ all(0x46))
        // each term leaves the top bit clear only at its byte
        let joined = ((low ^ all(0x2D)) &+ all(0x7F)) & ((low ^ all(0x5F)) &+ all(0x7F))
        let percent = (low ^ all(0x25)) &+ all(0x7F)
        let backslash = (low ^ all(0x5C)) &+ all(0x7F)
        let at = (low ^ all(0x40)) &+ all(0x7F)
        let hash = (low ^ all(0x23)) &+ all(0x7F)
        let plain = ~lanes & all(0x80)
        return ((letters | digits | ~joined) & plain, ~(percent & backslash & at & hash) & plain)
    }

    @inline(__always)
    private static func all(_ byte: UInt8) -> Lanes { Lanes(repeating: 0x0101_0101_0101_0101 &* UInt64(byte)) }

    /// Collects the top bits of 32 bytes.
    @inline(__always)
    private static func gather(_ lanes: Lanes) -> UInt64 {
        gather(lanes[0]) | gather(lanes[1]) &<< 8 | gather(lanes[2]) &<< 16 | gather(lanes[3]) &<< 24
    }

    @inline(__always)
    private static func gather(_ word: UInt64) -> UInt64 {
        // the product moves each top bit to its own place in the highest byte
        (word &* 0x0002_0408_1020_4081) &>> 56
    }
}
