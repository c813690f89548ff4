internal import Formats

/// The aliases in a stored text with their positions and names.
struct AliasScan {
    struct Place {
        var alias: SecretAlias
        var range: Range<Int>
        /// The name of the value in a query, form, cookie or JSON; empty if there is none.
        var name: String
    }

    let places: [Place]

    private static let words = SecretKind.allCases.map { (word: Array($0.word.utf8), kind: $0) }

    init(_ text: some Collection<UInt8>) {
        let bytes = Array(text)
        var places: [Place] = []
        Self.visit(bytes, bytes.indices) { alias, range in
            places.append(Place(alias: alias, range: range, name: Self.name(before: range.lowerBound, bytes)))
        }
        self.places = places
    }

    /// Visits each alias in a range without copies.
    static func visit(_ bytes: [UInt8], _ part: Range<Int>, _ body: (SecretAlias, Range<Int>) -> Void) {
        let span = bytes.span
        var index = part.lowerBound
        while index < part.upperBound {
            let mark = span.first(index, part.upperBound) { $0.equal(to: 0x23) }
            index = mark + 1
            var end = index
            var number: UInt64 = 0
            while end < part.upperBound, ASCII.isDigit(bytes[end]), end - index < 10 {
                number = number * 10 + UInt64(bytes[end] - 0x30)
                end += 1
            }
            guard end > index, let number = UInt32(exactly: number),
                let (kind, start) = bytes.withUnsafeBufferPointer({
                    Self.kind(before: mark, UnsafeBufferPointer(rebasing: $0[..<mark]), from: part.lowerBound)
                })
            else { continue }
            body(SecretAlias(kind, number), start..<end)
            index = end
        }
    }

    /// Whether a text ends with the word of an alias.
    static func endsWithKind(_ text: ArraySlice<UInt8>) -> Bool {
        text.withUnsafeBufferPointer { kind(before: $0.count, $0, from: 0) != nil }
    }

    private static func kind(
        before mark: Int, _ bytes: UnsafeBufferPointer<UInt8>, from first: Int
    ) -> (SecretKind, Int)? {
        for (word, kind) in words where mark - first >= word.count {
            let start = mark - word.count
            // most words differ in the last letter already
            var place = word.count - 1
            while place >= 0, bytes[start + place] == word[place] { place -= 1 }
            // the end of a longer word is no alias
            guard place < 0 else { continue }
            if start == first || !isName(bytes[start - 1]) { return (kind, start) }
            if encodings(before: start, bytes, from: first) > 0 { return (kind, start) }
        }
        return nil
    }

    /// How often the alias was percent-encoded with the surrounding text, as shown by the escape before it: once after `%3D`,
    /// twice after `%253D`.
    private static func encodings(
        before start: Int, _ bytes: UnsafeBufferPointer<UInt8>, from first: Int
    ) -> Int {
        guard start - first >= 3, ASCII.hexValue(bytes[start - 1]) != nil, ASCII.hexValue(bytes[start - 2]) != nil
        else {
            return 0
        }
        var place = start - 3
        var count = 1
        while place - first >= 2, bytes[place] == 0x35, bytes[place - 1] == 0x32 {
            place -= 2
            count += 1
        }
        return bytes[place] == 0x25 ? count : 0
    }

    static func encodings(before start: Int, _ bytes: [UInt8]) -> Int {
        bytes.withUnsafeBufferPointer { encodings(before: start, $0, from: 0) }
    }

    /// The name of the value that the alias at this place replaces.
    static func name(before start: Int, _ bytes: [UInt8]) -> String {
        var end = start
        // `name%3D`
        let encodings = self.encodings(before: start, bytes)
        if encodings > 0 { end -= 2 * encodings + 1 }
        while end > 0, [0x20, 0x22, 0x3A, 0x3D].contains(bytes[end - 1]) { end -= 1 }
        guard end < start else { return "" }
        var begin = end
        while begin > 0, isName(bytes[begin - 1]) { begin -= 1 }
        if encodings > 0, begin > 0, bytes[begin - 1] == 0x25 { begin = min(end, begin + 2 * encodings) }
        return String(decoding: bytes[begin..<end], as: UTF8.self)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }
}
