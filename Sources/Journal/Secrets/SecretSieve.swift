internal import Formats

/// Tells by one look through a text whether it may hold a secret at all. Most hold none, and are kept as they are.
///
/// It looks at the words of a text: whether one of them may name a secret, may be the beginning of one that is known, or has the
/// form of one. What it lets pass may be harmless all the same.
struct SecretSieve: Sendable {
    /// The names that say what follows is a secret.
    private var names = BeginningFilter()

    private static let longestName = 64

    init(_ names: some Sequence<[UInt8]>) {
        for name in names where !name.isEmpty {
            let first = name.prefix(ByteWordKey.count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            self.names.insert(Self.name(first, name.count))
        }
    }

    /// Letters in either case are one, and so are `_` and DEL; what is behind the end of a short name is blank.
    private static func name(_ first: UInt64, _ count: Int) -> ByteWordKey {
        let lower = first | 0x2020_2020_2020_2020
        let kept = count < 8 ? lower & (1 << UInt64(count * 8) &- 1) : lower
        return ByteWordKey(bits: kept ^ UInt64(count) &* 0xD6E8_FEB8_6659_FD93)
    }

    private enum Mark {
        static let word: UInt8 = 1
        /// A secret may begin with it, though it is part of no word.
        static let sign: UInt8 = 2
        static let escape: UInt8 = 4
    }

    private static let marks: [UInt8] = (0...255).map { (byte: Int) -> UInt8 in
        let byte = UInt8(truncatingIfNeeded: byte)
        if ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F { return Mark.word }
        switch byte {
        case 0x25, 0x5C, 0x40: return Mark.sign | Mark.escape
        case 0...0x20, 0x22, 0x26, 0x2C, 0x3A...0x3E, 0x5B, 0x5D, 0x7B, 0x7D: return 0
        default: return Mark.sign
        }
    }

    /// - Parameters:
    ///   - known: the beginnings of secrets that are known.
    ///   - older: those that are known for longer.
    ///   - isURL: an `@` may end a password.
    func mayHold(
        _ text: ArraySlice<UInt8>, _ known: BeginningFilter, _ older: BeginningFilter, isURL: Bool
    ) -> Bool {
        text.withUnsafeBytes { text in
            Self.marks.withUnsafeBufferPointer { marks in mayHold(text, marks, known, older, isURL) }
        }
    }

    private func mayHold(
        _ text: UnsafeRawBufferPointer, _ marks: UnsafeBufferPointer<UInt8>, _ known: BeginningFilter,
        _ older: BeginningFilter, _ isURL: Bool
    ) -> Bool {
        var place = 0
        while place < text.count {
            let mark = marks[Int(text[place])]
            var end = place + 1
            if mark & Mark.word != 0 {
                while end < text.count, marks[Int(text[end])] & Mark.word != 0 { end += 1 }
            } else if mark == 0 {
                place = end
                continue
            }
            let first = Self.first(text, place)
            if mark & Mark.word != 0 {
                let count = end - place
                if count <= Self.longestName, names.mayContain(Self.name(first, count)) { return true }
                // `eyJ` and `AQIC`
                if first & 0xFF_FFFF == 0x4A_7965 || first & 0xFFFF_FFFF == 0x4349_5141 { return true }
            } else if mark & Mark.escape != 0, Self.hides(text, place, isURL) {
                return true
            }
            if text.count - place >= ByteWordKey.count {
                let key = ByteWordKey(bits: first)
                if known.mayContain(key) || older.mayContain(key) { return true }
            }
            place = end
        }
        return false
    }

    private static func first(_ text: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
        if text.count - place >= 8 { return text.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian }
        var first: UInt64 = 0
        for index in stride(from: text.count - 1, through: place, by: -1) { first = first << 8 | UInt64(text[index]) }
        return first
    }

    /// Letters and digits that are written so that they are not seen, or the end of a password in a URL.
    private static func hides(_ text: UnsafeRawBufferPointer, _ place: Int, _ isURL: Bool) -> Bool {
        switch text[place] {
        case 0x40: return isURL
        case 0x5C: return place + 2 < text.count && text[place + 1] == 0x75 && text[place + 2] == 0x30
        default:
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
        }
    }
}
