/// Which bytes of a text are of a kind, many at a time: a bit for each of 64, the first the least.
enum ByteClasses {
    static let count = 64

    private typealias Lanes = SIMD4<UInt64>

    /// Letters, digits, `-` and `_`: what names and tokens are made of.
    @inline(__always)
    static func isWord(_ byte: UInt8) -> Bool {
        let bits: UInt64 = byte < 64 ? 0x03FF_2000_0000_0000 : 0x07FF_FFFE_87FF_FFFE
        return byte < 0x80 && bits >> UInt64(byte & 63) & 1 != 0
    }

    /// - Parameter text: what is behind its end is of no kind.
    /// - Returns: the bytes from a place on that words are made of; and whether there are any by which others are written so
    ///   that they are not seen, or which end a password: `%`, `\\`, `#` and `@`.
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

    /// The top bit of each byte that is of the kind. Sums of seven bits stay inside their bytes.
    @inline(__always)
    private static func kinds(_ lanes: Lanes) -> (words: Lanes, escapes: Lanes) {
        let low = lanes & all(0x7F)
        let folded = low | all(0x20)
        let letters = (folded &+ all(0x1F)) & ~(folded &+ all(0x05))
        let digits = (low &+ all(0x50)) & ~(low &+ all(0x46))
        // each is 0 at its byte alone, and so keeps the top bit clear there
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

    /// The top bits of 32 bytes, side by side.
    @inline(__always)
    private static func gather(_ lanes: Lanes) -> UInt64 {
        gather(lanes[0]) | gather(lanes[1]) &<< 8 | gather(lanes[2]) &<< 16 | gather(lanes[3]) &<< 24
    }

    @inline(__always)
    private static func gather(_ word: UInt64) -> UInt64 {
        // each top bit comes to lie in the highest byte once, and at a place of its own
        (word &* 0x0002_0408_1020_4081) &>> 56
    }
}
