internal import Formats

/// A quick check whether a text may hold a secret. Most texts hold none and are stored unchanged.
///
/// It tests whether a word may be a secret's name, the beginning of a known secret, or has a typical form. False positives are
/// possible.
enum SecretSieve {
    private static let longestName = 64
    /// The length of `token`, which is a name itself.
    private static let shortestEnding = 5

    /// The position of the first word or byte that may belong to or name a secret.
    /// - Parameters:
    /// - start: where a word may begin.
    /// - words: the names, and the beginnings of the known forms.
    static func first(
        in text: UnsafeRawBufferPointer, from start: Int, _ words: WordTable, _ known: KnownForms
    ) -> Int? {
        let looksAtSigns = words.hasSigns
        let looksAtShort: UInt64 = words.hasShortWords ? .max : 0
        var carry: UInt64 = 0
        var block = start
        while block < text.count {
            let (bits, escapes) = ByteClasses.of(text, at: block)
            var places = bits & ~(bits &<< 1 | carry)
            // the length of words at the end of a block is not known yet, so two starts are kept
            places &= bits &>> 1 & bits &>> 2 | 3 &<< 62 | looksAtShort
            carry = bits &>> 63
            var end = min(text.count, block &+ ByteClasses.count)
            var isFound = false
            while places != 0 {
                let index = places.trailingZeroBitCount
                places &= places &- 1
                let place = block &+ index
                let first = beginning(text, place)
                let count = (~(bits &>> UInt64(truncatingIfNeeded: index))).trailingZeroBitCount
                // measure a word that extends beyond the block
                let isOpen = index &+ count >= ByteClasses.count
                let length = isOpen ? measured(text, place, upTo: longestName &+ 1) : count
                isFound = isSuspect(text, place, first, length, words, known)
                if isFound {
                    end = place
                    break
                }
            }
            // the first position counts, and an escape may precede the word
            if escapes || looksAtSigns,
                let place = sign(in: text, block..<end, words, known)
            {
                return place
            }
            if isFound { return end }
            block &+= ByteClasses.count
        }
        return nil
    }

    @inline(__always)
    private static func isSuspect(
        _ text: UnsafeRawBufferPointer, _ place: Int, _ first: UInt64, _ count: Int, _ words: WordTable,
        _ known: KnownForms
    ) -> Bool {
        if tells(text, place, first, count) { return true }
        let (isName, isBeginning) = words.look(first, count)
        return isName || isBeginning && known.contains(first)
    }

    /// True for a word that is suspicious by itself: the beginning of a token, or a typical ending of a name.
    @inline(__always)
    private static func tells(_ text: UnsafeRawBufferPointer, _ place: Int, _ first: UInt64, _ count: Int) -> Bool {
        // `eyJ`, `AQIC` and `AAJTSQ`
        if first & 0xFF_FFFF == 0x4A_7965 || first & 0xFFFF_FFFF == 0x4349_5141
            || first & 0xFFFF_FFFF_FFFF == 0x5153_544A_4141
        {
            return true
        }
        guard count > shortestEnding else { return false }
        let start = place &+ count &- WordTable.size
        // a short word at the start of the text has no eight bytes before its end
        let bytes =
            start >= 0
            ? text.loadUnaligned(fromByteOffset: start, as: UInt64.self).littleEndian
            : beginning(text, 0) &<< UInt64(truncatingIfNeeded: start &* -8)
        let last = bytes | 0x2020_2020_2020_2020
        // `password`, `secret`, `token`, `authorization`, and types of callbacks
        return last == 0x6472_6F77_7373_6170 || last &>> 16 == 0x7465_7263_6573 || last &>> 24 == 0x6E_656B_6F74
            || last == 0x6E6F_6974_617A_6972 || last == 0x6B63_6162_6C6C_6163
    }

    /// The length of the word at this place, up to `most`.
    private static func measured(_ text: UnsafeRawBufferPointer, _ place: Int, upTo most: Int) -> Int {
        let last = min(text.count, place &+ most)
        var end = place &+ 1
        while end < last, ByteClasses.isWord(text[end]) { end &+= 1 }
        return end &- place
    }

    /// The first byte that hides something or may start a secret.
    private static func sign(
        in text: UnsafeRawBufferPointer, _ range: Range<Int>, _ words: WordTable, _ known: KnownForms
    ) -> Int? {
        range.first { place in
            let byte = text[place]
            if ByteClasses.isWord(byte) { return false }
            if hides(text, place) { return true }
            if byte == 0x25, let word = wordBehindEscape(text, place) {
                let first = beginning(text, word)
                let length = measured(text, word, upTo: longestName + 1)
                if isSuspect(text, word, first, length, words, known) { return true }
            }
            return words.hasSign(byte) && known.contains(beginning(text, place))
        }
    }

    /// The start of the word after `%3F` or `%253F`.
    private static func wordBehindEscape(_ text: UnsafeRawBufferPointer, _ place: Int) -> Int? {
        var word = place + 1
        while word + 2 < text.count, text[word] == 0x32, text[word + 1] == 0x35 { word += 2 }
        word += 2
        return word < text.count && ByteClasses.isWord(text[word]) ? word : nil
    }

    /// Eight bytes; those beyond the end are 0.
    @inline(__always)
    private static func beginning(_ text: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
        if text.count &- place >= 8 { return text.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian }
        var first: UInt64 = 0
        for index in stride(from: text.count - 1, through: place, by: -1) { first = first << 8 | UInt64(text[index]) }
        return first
    }

    /// True if letters or digits are escaped here, or a URL's password ends here.
    private static func hides(_ text: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        switch text[place] {
        case 0x40: return endsUser(text, place)
        case 0x23: return place > 0 && text[place - 1] == 0x26 && isWordByEntity(text, place + 1)
        case 0x5C:
            guard place + 2 < text.count else { return false }
            // `\u003D`, and `\x3D`
            return text[place + 1] == 0x75 && text[place + 2] == 0x30
                || text[place + 1] == 0x78 && ASCII.isDigit(text[place + 2])
        case 0x25:
            var place = place
            // `%2563` is `%63` encoded again
            while place + 4 < text.count, text[place + 1] == 0x32, text[place + 2] == 0x35 { place += 2 }
            guard place + 2 < text.count else { return false }
            switch text[place + 1] {
            case 0x33: return ASCII.isDigit(text[place + 2])
            // %40 is no letter, nor are %5B to %5E and what follows %7A
            case 0x34, 0x36: return text[place + 2] != 0x30
            case 0x35, 0x37:
                return text[place + 2] < 0x42 || text[place + 2] | 0x20 == 0x61 || text[place + 2] | 0x20 == 0x66
            case 0x32: return text[place + 2] | 0x20 == 0x64
            default: return false
            }
        default: return false
        }
    }

    /// True for a word byte written as `&#97;` or `&#x61;`.
    private static func isWordByEntity(_ text: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        var place = start
        let isHex = place < text.count && text[place] | 0x20 == 0x78
        if isHex { place += 1 }
        var number = 0
        while place < text.count, number < 128, let digit = ASCII.hexValue(text[place]), isHex || digit < 10 {
            number = number * (isHex ? 16 : 10) + Int(digit)
            place += 1
        }
        return number < 128 && ByteClasses.isWord(UInt8(number))
    }

    /// True if the `@` ends a user: in `//user:password@`, two slashes precede the user.
    private static func endsUser(_ text: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        var start = place
        while start > 0, place - start < longestUser {
            let byte = text[start - 1]
            if byte == 0x2F || byte == 0x5C {
                return start > 1 && (text[start - 2] == 0x2F || text[start - 2] == 0x5C)
            }
            // an earlier `@` was checked before
            if byte == 0x40 || byte <= 0x20 || byte == 0x22 || byte == 0x27 || byte == 0x3C || byte == 0x3E {
                return false
            }
            start -= 1
        }
        return start > 0
    }

    private static let longestUser = 512
}
