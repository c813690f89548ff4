internal import Formats

extension SecretAliases {
    /// Replaces known secrets and those with a typical form.
    mutating func cleared(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var copied = 0
        var place = 0
        while place < text.count {
            let end = SecretShape.endOfWord(text, place)
            if let found = secret(in: text, at: place, end) {
                out += text[copied..<place]
                AliasMark.write(found.alias, to: &out)
                place += found.count
                copied = place
            } else {
                place = end
            }
        }
        return copied == 0 ? text : out + text[copied...]
    }

    private mutating func secret(in text: [UInt8], at place: Int, _ end: Int) -> (alias: SecretAlias, count: Int)? {
        if let found = known(in: text, at: place) { return found }
        guard let shape = SecretShape.find(in: text, at: place, end) else { return nil }
        return (alias(of: text[place..<place + shape.count], shape.kind), shape.count)
    }
}
