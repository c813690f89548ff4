internal import Formats

/// The aliases in a text that is kept, each with where it stands and what is written before it.
struct AliasScan {
    struct Place {
        var alias: SecretAlias
        var range: Range<Int>
        /// What it is the value of, as queries, forms, cookies and JSON write that; empty where nothing says.
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

    /// Each alias in a part of some bytes, and where it stands, without a copy.
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
                let (kind, start) = Self.kind(before: mark, bytes, from: part.lowerBound)
            else { continue }
            body(SecretAlias(kind, number), start..<end)
            index = end
        }
    }

    private static func kind(before mark: Int, _ bytes: [UInt8], from first: Int) -> (SecretKind, Int)? {
        for (word, kind) in words where mark - first >= word.count {
            let start = mark - word.count
            // most differ in their last letter already
            var place = word.count - 1
            while place >= 0, bytes[start + place] == word[place] { place -= 1 }
            // the end of a longer word is none
            if place < 0, start == first || !isName(bytes[start - 1]) { return (kind, start) }
        }
        return nil
    }

    /// What the alias that stands there is the value of.
    static func name(before start: Int, _ bytes: [UInt8]) -> String {
        var end = start
        while end > 0, [0x20, 0x22, 0x3A, 0x3D].contains(bytes[end - 1]) { end -= 1 }
        guard end < start else { return "" }
        var begin = end
        while begin > 0, isName(bytes[begin - 1]) { begin -= 1 }
        return String(decoding: bytes[begin..<end], as: UTF8.self)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }
}
