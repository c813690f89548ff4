internal import Formats

/// Tells by one look through a text whether it may hold a secret at all. Most hold none, and are kept as they are.
///
/// It looks at the words of a text: whether one of them may name a secret, may be the beginning of one that is known, or has the
/// form of one. What it lets pass may be harmless all the same.
struct SecretSieve: Sendable {
    /// The names that say what follows is a secret, by their beginnings.
    private var names: [UInt64: Set<Int>] = [:]

    private static let longestName = 64

    init(_ names: some Sequence<[UInt8]>) {
        for name in names where !name.isEmpty {
            let first = name.prefix(ByteWordKey.count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            self.names[WordKey(first, name.count).bits, default: []].insert(name.count)
        }
    }

    /// Has them looked for.
    func insert(into filter: inout BeginningFilter) {
        for name in names.keys { filter.insert(WordKey(bits: name)) }
    }

    /// Where the first word, or sign, stands that may be a secret's, or tell of one.
    /// - Parameters:
    ///   - start: where a word may begin.
    ///   - filter: the names, and the beginnings of secrets that are known.
    ///   - isURL: an `@` may end a password.
    ///   - isKnown: whether a secret may stand at a place that begins so.
    func first(
        in text: UnsafeRawBufferPointer, from start: Int, _ filter: BeginningFilter, isURL: Bool,
        isKnown: (ByteWordKey) -> Bool
    ) -> Int? {
        filter.ask { questions in
            let looksAtSigns = filter.hasSigns
            let looksAtShort: UInt64 = filter.hasShortWords ? .max : 0
            var carry: UInt64 = 0
            var block = start
            while block < text.count {
                let (words, escapes) = ByteClasses.of(text, at: block)
                var places = words & ~(words &<< 1 | carry)
                // nobody knows yet how long the two are that may begin at the end of a block
                places &= words &>> 1 & words &>> 2 | 3 &<< 62 | looksAtShort
                carry = words &>> 63
                var end = min(text.count, block &+ ByteClasses.count)
                var isFound = false
                while places != 0 {
                    let index = places.trailingZeroBitCount
                    places &= places &- 1
                    let place = block &+ index
                    let first = Self.first(text, place)
                    let count = (~(words &>> UInt64(truncatingIfNeeded: index))).trailingZeroBitCount
                    // a word that goes on behind the block has to be measured where its length matters
                    let isOpen = index &+ count >= ByteClasses.count && count < ByteWordKey.count
                    let length = isOpen ? Self.length(text, place, upTo: ByteWordKey.count) : count
                    // `eyJ` and `AQIC` tell by themselves
                    isFound =
                        first & 0xFF_FFFF == 0x4A_7965 || first & 0xFFFF_FFFF == 0x4349_5141
                        || questions.mayContain(WordKey(first, length)) && isSuspect(text, place, first, isKnown)
                    if isFound {
                        end = place
                        break
                    }
                }
                // the first of all is asked for, and a sign may stand before the word
                if escapes || looksAtSigns,
                    let place = Self.sign(in: text, block..<end, filter, isURL: isURL, isKnown)
                {
                    return place
                }
                if isFound { return end }
                block &+= ByteClasses.count
            }
            return nil
        }
    }

    private func isSuspect(
        _ text: UnsafeRawBufferPointer, _ place: Int, _ first: UInt64, _ isKnown: (ByteWordKey) -> Bool
    ) -> Bool {
        if isKnown(ByteWordKey(bits: first)) { return true }
        let count = Self.length(text, place, upTo: Self.longestName + 1)
        return count <= Self.longestName && names[WordKey(first, count).bits]?.contains(count) == true
    }

    /// How long the word is that begins there, as far as that is asked for.
    private static func length(_ text: UnsafeRawBufferPointer, _ place: Int, upTo most: Int) -> Int {
        let last = min(text.count, place &+ most)
        var end = place &+ 1
        while end < last, ByteClasses.isWord(text[end]) { end &+= 1 }
        return end &- place
    }

    /// The first sign that hides something, or with which a secret may begin.
    private static func sign(
        in text: UnsafeRawBufferPointer, _ range: Range<Int>, _ filter: BeginningFilter, isURL: Bool,
        _ isKnown: (ByteWordKey) -> Bool
    ) -> Int? {
        range.first { place in
            let byte = text[place]
            if ByteClasses.isWord(byte) { return false }
            if hides(text, place, isURL) { return true }
            return filter.hasSign(byte) && isKnown(ByteWordKey(bits: first(text, place)))
        }
    }

    /// Eight bytes; those behind the end are 0.
    @inline(__always)
    private static func first(_ text: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
        if text.count &- place >= 8 { return text.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian }
        var first: UInt64 = 0
        for index in stride(from: text.count - 1, through: place, by: -1) { first = first << 8 | UInt64(text[index]) }
        return first
    }

    /// Letters and digits that are written so that they are not seen, or the end of a password in a URL.
    private static func hides(_ text: UnsafeRawBufferPointer, _ place: Int, _ isURL: Bool) -> Bool {
        switch text[place] {
        case 0x40: return isURL
        case 0x5C: return place + 2 < text.count && text[place + 1] == 0x75 && text[place + 2] == 0x30
        case 0x25:
            guard place + 2 < text.count else { return false }
            switch text[place + 1] {
            case 0x33: return ASCII.isDigit(text[place + 2])
            // %40 is no letter, %5B to %5E are none, nor is what follows %7A
            case 0x34, 0x36: return text[place + 2] != 0x30
            case 0x35, 0x37:
                return text[place + 2] < 0x42 || text[place + 2] | 0x20 == 0x61 || text[place + 2] | 0x20 == 0x66
            case 0x32: return text[place + 2] | 0x20 == 0x64
            default: return false
            }
        default: return false
        }
    }
}
