/// Eight bytes as one number, so that one operation tests all of them. A test returns a mask with the top bit set in each
/// byte that matches; the first byte is the lowest.
///
/// The sums stay inside their bytes: at most 0x7F results from seven bits.
@frozen
public struct ByteWord: Equatable, Sendable {
    @inlinable @inline(__always)
    public static var count: Int { 8 }

    @usableFromInline let bits: UInt64

    /// Loads the eight bytes from `index` on; a bounds check traps where they are missing.
    @inlinable @inline(__always)
    public init(_ bytes: Span<UInt8>, at index: Int) {
        bits = UInt64(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Loads eight bytes without a check, for callers that checked the whole range.
    @inlinable @inline(__always)
    init(unchecked bytes: Span<UInt8>, at index: Int) {
        bits = UInt64(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    /// Loads the last one to seven bytes, padded with 0.
    @usableFromInline @inline(never)
    init(endOf bytes: Span<UInt8>, from index: Int) {
        let (raw, count) = (bytes.bytes, bytes.count &- index)
        precondition(count > 0 && count < Self.count)
        let shift = UInt64(truncatingIfNeeded: 8 &* count)
        if bytes.count >= Self.count {
            let last = raw.unsafeLoadUnaligned(fromByteOffset: bytes.count &- Self.count, as: UInt64.self)
            bits = UInt64(littleEndian: last) &>> (64 &- shift)
        } else if count >= 4 {
            let first = raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt32.self)
            let last = raw.unsafeLoadUnaligned(fromByteOffset: bytes.count &- 4, as: UInt32.self)
            bits = UInt64(UInt32(littleEndian: first)) | UInt64(UInt32(littleEndian: last)) &<< (shift &- 32)
        } else {
            // with one or two bytes some positions coincide
            let middle = count / 2
            bits =
                UInt64(bytes[index]) | UInt64(bytes[index &+ middle]) &<< UInt64(8 &* middle)
                | UInt64(bytes[bytes.count &- 1]) &<< (shift &- 8)
        }
    }

    /// Loads one byte, padded with 0.
    @inlinable @inline(__always)
    public init(_ byte: UInt8) { bits = UInt64(byte) }

    /// Loads eight characters of a literal.
    @inlinable @inline(__always)
    public init(_ text: StaticString) {
        precondition(text.utf8CodeUnitCount == Self.count)
        let bytes = UnsafeRawPointer(text.utf8Start)
        bits = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    /// written out, so that other modules compare without a call
    @inlinable @inline(__always)
    public static func == (left: ByteWord, right: ByteWord) -> Bool { left.bits == right.bits }

    @inlinable @inline(__always)
    static func all(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

    @inlinable @inline(__always)
    static var top: UInt64 { 0x8080_8080_8080_8080 }

    @inlinable @inline(__always)
    var low: UInt64 { bits & ~Self.top }

    /// Matches control characters, including HTAB.
    @inlinable @inline(__always)
    public var controls: UInt64 {
        let visible = (low &+ Self.all(0x60)) ^ (low &+ Self.all(0x01))
        return ~(visible | bits) & Self.top
    }

    /// Matches bytes that JSON text must escape, and DEL: control characters, quotes and backslashes.
    @inlinable @inline(__always)
    public var outsideJSONText: UInt64 {
        let quote = (low ^ Self.all(0x22)) &+ Self.all(0x7F)
        let backslash = (low ^ Self.all(0x5C)) &+ Self.all(0x7F)
        return controls | (~(quote & backslash | bits) & Self.top)
    }

    /// Matches bytes that a request target must not contain: control characters, SP, and `#`, which begins a fragment.
    /// Other characters that browsers send unescaped (`"`, `<`, `>`, `\`, `^`, backquote, braces, `|`) pass: they are
    /// unambiguous, and the origin server judges them.
    @inlinable @inline(__always)
    public var outsideTargets: UInt64 {
        let visible = (low &+ Self.all(0x5F)) ^ (low &+ Self.all(0x01))
        let unfragmented = (low ^ Self.all(0x23)) &+ Self.all(0x7F)
        return ~(visible & unfragmented | bits) & Self.top
    }

    /// Matches all but ASCII letters, digits and hyphens, of which most names of fields, hosts and schemes consist.
    @inlinable @inline(__always)
    public var outsideNames: UInt64 {
        let other = (low ^ Self.all(0x2D)) &+ Self.all(0x7F)
        return (~alphanumeric & other | bits) & Self.top
    }

    /// Matches all but lower-case ASCII letters, digits and hyphens, of which most HTTP/2 field names consist.
    @inlinable @inline(__always)
    public var outsideSmallNames: UInt64 {
        let letter = (low &+ Self.all(0x1F)) ^ (low &+ Self.all(0x05))
        let digit = (low &+ Self.all(0x50)) ^ (low &+ Self.all(0x46))
        let other = (low ^ Self.all(0x2D)) &+ Self.all(0x7F)
        return (~(letter | digit) & other | bits) & Self.top
    }

    /// Matches ASCII letters and digits, provided that the byte is ASCII.
    @inlinable @inline(__always)
    var alphanumeric: UInt64 {
        let folded = low | Self.all(0x20)
        let letter = (folded &+ Self.all(0x1F)) ^ (folded &+ Self.all(0x05))
        let digit = (low &+ Self.all(0x50)) ^ (low &+ Self.all(0x46))
        return letter | digit
    }

    /// Matches all but ASCII letters, digits, hyphens and dots, of which most host names consist.
    @inlinable @inline(__always)
    public var outsideHosts: UInt64 {
        let other = (low &+ Self.all(0x53)) ^ (low &+ Self.all(0x51))
        return (~(alphanumeric | other) | bits) & Self.top
    }

    /// Matches all but visible ASCII characters.
    @inlinable @inline(__always)
    public var outsideVisible: UInt64 {
        let visible = (low &+ Self.all(0x5F)) ^ (low &+ Self.all(0x01))
        return (~visible | bits) & Self.top
    }

    @inline(__always)
    var outsideASCII: UInt64 { bits & Self.top }

    @inline(__always)
    var insideASCII: UInt64 { ~bits & Self.top }

    @inlinable @inline(__always)
    public func equal(to byte: UInt8) -> UInt64 {
        let difference = bits ^ Self.all(byte)
        return ~(((difference & ~Self.top) &+ Self.all(0x7F)) | difference) & Self.top
    }
}

extension ByteWord {
    /// The first `count` bytes in lower case, with 0 in place of the others.
    @inlinable @inline(__always)
    public func lowercased(count: Int) -> ByteWord {
        let capital = (low &+ Self.all(0x3F)) ^ (low &+ Self.all(0x25))
        let folded = bits | (capital & ~bits & Self.top) &>> 2
        return ByteWord(bits: count >= Self.count ? folded : folded & (1 &<< UInt64(8 * count) &- 1))
    }

    @inlinable @inline(__always)
    init(bits: UInt64) { self.bits = bits }
}

extension Span<UInt8> {
    /// Whether the bytes are valid UTF-8. Runs of ASCII are passed eight bytes at a time.
    var isUTF8: Bool {
        var index = 0
        while true {
            index = first(index, count) { $0.outsideASCII }
            guard index < count else { return true }
            let end = near(index, count) { $0.insideASCII }
            // between two ASCII bytes stand whole characters
            do { _ = try UTF8Span(validating: extracting(index..<end)) } catch { return false }
            index = end
        }
    }

    /// Returns the first index in a range whose byte matches; the range's end if none does. The last word may reach beyond
    /// the range, but never beyond the span.
    @inlinable @inline(__always)
    public func first(_ lower: Int, _ upper: Int, where mask: (ByteWord) -> UInt64) -> Int {
        precondition(lower >= 0 && upper <= count)
        var index = lower
        // the compiler merges two adjacent words into one of sixteen bytes where the machine has it
        while index &+ 2 * ByteWord.count <= upper {
            let found = mask(ByteWord(unchecked: self, at: index))
            let next = mask(ByteWord(unchecked: self, at: index &+ ByteWord.count))
            if found | next != 0 {
                if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
                return index &+ ByteWord.count &+ next.trailingZeroBitCount &>> 3
            }
            index &+= 2 * ByteWord.count
        }
        return near(index, upper, where: mask)
    }

    /// Like `firstIndex`, for a match that is likely within a few bytes.
    @inlinable @inline(__always)
    public func near(_ lower: Int, _ upper: Int, where mask: (ByteWord) -> UInt64) -> Int {
        precondition(lower >= 0 && upper <= count)
        var index = lower
        while index < upper {
            guard index &+ ByteWord.count <= count else {
                // only at the end of the span, which is rarely the end of a head
                while index < upper, mask(ByteWord(self[index])) & 0x80 == 0 { index &+= 1 }
                return index
            }
            let found = mask(ByteWord(unchecked: self, at: index))
            if found != 0 { return Swift.min(upper, index &+ found.trailingZeroBitCount &>> 3) }
            index &+= ByteWord.count
        }
        return Swift.max(lower, upper)
    }

    /// Like `firstIndex`, for a whole span that is short.
    @inlinable @inline(__always)
    public func first(where mask: (ByteWord) -> UInt64) -> Int {
        var index = 0
        while index &+ ByteWord.count <= count {
            let found = mask(ByteWord(unchecked: self, at: index))
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= ByteWord.count
        }
        guard index < count else { return count }
        let found = mask(ByteWord(endOf: self, from: index)) & (1 &<< UInt64(8 &* (count &- index)) &- 1)
        return found == 0 ? count : index &+ found.trailingZeroBitCount &>> 3
    }

    /// Whether the same bytes stand at two places. Both ranges must lie in the span.
    @inlinable
    public func holds(_ left: Int, _ right: Int, count: Int) -> Bool {
        guard count >= ByteWord.count else {
            for offset in 0..<count where self[left &+ offset] != self[right &+ offset] { return false }
            return true
        }
        var offset = 0
        let last = count &- ByteWord.count
        while offset < last {
            guard ByteWord(self, at: left &+ offset) == ByteWord(self, at: right &+ offset) else { return false }
            offset &+= ByteWord.count
        }
        return ByteWord(self, at: left &+ last) == ByteWord(self, at: right &+ last)
    }

    /// Whether a text stands at `lower`, ignoring ASCII case. The text must fit into the span.
    @inlinable
    public func holds(text: Span<UInt8>, at lower: Int) -> Bool {
        guard text.count >= ByteWord.count else {
            for offset in text.indices where ASCII.lower(self[lower &+ offset]) != ASCII.lower(text[offset]) {
                return false
            }
            return true
        }
        var offset = 0
        let last = text.count &- ByteWord.count
        while true {
            let (found, wanted) = (ByteWord(self, at: lower &+ offset), ByteWord(text, at: offset))
            guard found == wanted || found.lowercased(count: 8) == wanted.lowercased(count: 8) else { return false }
            if offset == last { return true }
            offset = Swift.min(offset &+ ByteWord.count, last)
        }
    }

    /// Whether a word stands at `lower`, ignoring ASCII case.
    /// - Parameter word: lower-case letters, digits and smaller ASCII characters. It must fit into the span.
    @inlinable @inline(__always)
    public func holds(_ word: StaticString, at lower: Int) -> Bool {
        let count = word.utf8CodeUnitCount
        let expected = UnsafeRawPointer(word.utf8Start)
        @inline(__always)
        func differs<Word: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: Word.Type) -> Bool {
            let wanted = expected.loadUnaligned(fromByteOffset: offset, as: Word.self)
            let found = bytes.unsafeLoadUnaligned(fromByteOffset: lower &+ offset, as: Word.self)
            // only letters have 0x40; shifted right by one it is their case bit
            let letters = Word(truncatingIfNeeded: 0x4040_4040_4040_4040 as UInt64)
            return (wanted ^ found) & ~((wanted & letters) &>> 1) != 0
        }
        if count >= 8 {
            var offset = 0
            while offset &+ 8 < count {
                if differs(offset, UInt64.self) { return false }
                offset &+= 8
            }
            return !differs(count &- 8, UInt64.self)
        }
        if count >= 4 { return !differs(0, UInt32.self) && !differs(count &- 4, UInt32.self) }
        for offset in 0..<count where differs(offset, UInt8.self) { return false }
        return true
    }
}
