internal import Formats

/// Escapes client text that looks like an alias by one more `#`. So `session#3` stands for a secret, and `session##3` is the
/// literal text `session#3`.
enum AliasEscape {
    static func escaped(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> { changed(text, least: 1) { $0 + 1 } }

    /// The original text.
    static func plain(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> { changed(text, least: 2) { $0 - 1 } }

    /// - Parameter least: the minimum count of `#` between the word and the number.
    private static func changed(
        _ text: ArraySlice<UInt8>, least: Int, _ count: (Int) -> Int
    ) -> ArraySlice<UInt8> {
        var out: [UInt8] = []
        var copied = text.startIndex
        var place = text.startIndex
        let (bytes, start) = (text.span, text.startIndex)
        while true {
            let mark = start + bytes.first(place - start, bytes.count) { $0.equal(to: 0x23) }
            guard mark < text.endIndex else { break }
            var end = mark
            while end < text.endIndex, text[end] == 0x23 { end += 1 }
            place = end
            guard end - mark >= least, end < text.endIndex, ASCII.isDigit(text[end]),
                AliasScan.endsWithKind(text[text.startIndex..<mark])
            else { continue }
            out += text[copied..<mark]
            out += repeatElement(0x23, count: count(end - mark))
            copied = end
        }
        return copied == text.startIndex ? text : (out + text[copied...])[...]
    }
}
