internal import Formats

extension SecretAliases {
    /// A text without the secrets that are known, or whose form tells what they are.
    mutating func cleared(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var copied = 0
        var place = 0
        while place < text.count {
            if let found = secret(in: text, at: place) {
                out += text[copied..<place]
                AliasMark.write(found.alias, to: &out)
                place += found.count
                copied = place
            } else {
                place = Self.endOfWord(text, place)
            }
        }
        return copied == 0 ? text : out + text[copied...]
    }

    private mutating func secret(in text: [UInt8], at place: Int) -> (alias: SecretAlias, count: Int)? {
        if let found = known(in: text, at: place) { return found }
        guard let shape = SecretShape.find(in: text, at: place) else { return nil }
        return (alias(of: text[place..<place + shape.count], shape.kind), shape.count)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }

    /// Behind the word, the escape of a URL or the sign that stands there: a secret begins where a word does, or a sign.
    private static func endOfWord(_ text: [UInt8], _ start: Int) -> Int {
        if text[start] == 0x25, start + 3 <= text.count {
            // `%3F`, and `%253F`
            var end = start + 1
            while end + 4 <= text.count, text[end] == 0x32, text[end + 1] == 0x35 { end += 2 }
            return end + 2
        }
        var end = start
        while end < text.count, isWordByte(text[end]) { end += 1 }
        return max(end, start + 1)
    }
}
