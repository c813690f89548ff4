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
        var index = 0
        while let mark = bytes[index...].firstIndex(of: 0x23) {
            index = mark + 1
            var end = index
            while end < bytes.count, ASCII.isDigit(bytes[end]), end - index < 10 { end += 1 }
            guard end > index, let number = UInt32(String(decoding: bytes[index..<end], as: UTF8.self)),
                let (kind, start) = Self.kind(before: mark, bytes)
            else { continue }
            places.append(
                Place(alias: SecretAlias(kind, number), range: start..<end, name: Self.name(before: start, bytes)))
            index = end
        }
        self.places = places
    }

    private static func kind(before mark: Int, _ bytes: [UInt8]) -> (SecretKind, Int)? {
        for (word, kind) in words where mark >= word.count {
            let start = mark - word.count
            guard bytes[start..<mark].elementsEqual(word) else { continue }
            // the end of a longer word is none
            if start == 0 || !isName(bytes[start - 1]) { return (kind, start) }
        }
        return nil
    }

    private static func name(before start: Int, _ bytes: [UInt8]) -> String {
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
