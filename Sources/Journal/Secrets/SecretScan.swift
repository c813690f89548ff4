internal import Formats

/// Secrets that a text names beside them, whatever the text is: one that is no whole JSON, a page, the parts of a form, a script.
extension MessageRedactor {
    /// What stands behind a name that says so: `"name": "value"`, `name="X" … value="Y"`, `name=value`, and a part of a form that is
    /// named so.
    mutating func scanned(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var copied = 0
        var place = 0
        while place < text.count {
            guard Self.isNameByte(text[place]) else {
                place += 1
                continue
            }
            var end = place
            while end < text.count, Self.isNameByte(text[end]) { end += 1 }
            if end - place <= 64, let kind = names.kind(text[place..<end]),
                let value = Self.value(in: text, behind: end), value.lowerBound >= copied, !value.isEmpty
            {
                out += text[copied..<value.lowerBound]
                put(text[value], kind, &out)
                copied = value.upperBound
                end = value.upperBound
            }
            place = max(end, place + 1)
        }
        return copied == 0 ? text : out + text[copied...]
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == ASCII.space || byte == ASCII.tab || byte == ASCII.cr || byte == ASCII.lf
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0x27 }

    /// Where the value of a name stands that ends there.
    private static func value(in text: [UInt8], behind end: Int) -> Range<Int>? {
        var place = end
        // the quote that ends the name, with its escape where the text stands in another
        if place < text.count, text[place] == 0x5C { place += 1 }
        let quote = place < text.count && isQuote(text[place]) ? text[place] : nil
        if quote != nil { place += 1 }
        let behindName = place
        while place < text.count, isSpace(text[place]) { place += 1 }
        if place < text.count, text[place] == ASCII.colon || text[place] == 0x3D {
            return assigned(in: text, from: place + 1, isQuoted: quote != nil)
        }
        guard quote != nil else { return nil }
        return attribute(in: text, behind: behindName) ?? part(in: text, behind: behindName)
    }

    /// Behind `:` or `=`: a string in quotes, or a word.
    private static func assigned(in text: [UInt8], from start: Int, isQuoted: Bool) -> Range<Int>? {
        var place = start
        while place < text.count, isSpace(text[place]) { place += 1 }
        var escaped = false
        if place + 1 < text.count, text[place] == 0x5C, isQuote(text[place + 1]) {
            escaped = true
            place += 1
        }
        guard place < text.count else { return nil }
        if isQuote(text[place]) { return quoted(in: text, from: place, escaped: escaped) }
        // a word in JSON is no string
        guard !isQuoted, text[start - 1] == 0x3D, place == start else { return nil }
        var end = place
        while end < text.count, !isSpace(text[end]),
            ![0x26, 0x22, 0x27, 0x3C, 0x3E, 0x3B, 0x29, 0x2C, 0x5C].contains(text[end])
        {
            end += 1
        }
        return place..<end
    }

    private static func quoted(in text: [UInt8], from quote: Int, escaped: Bool) -> Range<Int> {
        var end = quote + 1
        while end < text.count, text[end] != text[quote] {
            if text[end] == 0x5C {
                if escaped { break }
                end += 1
            }
            end += 1
        }
        return quote + 1..<min(end, text.count)
    }

    /// The attribute `value` of the same tag.
    private static func attribute(in text: [UInt8], behind start: Int) -> Range<Int>? {
        let word = Array("value".utf8)
        var place = start
        let limit = min(text.count, start + 512)
        while place < limit, text[place] != 0x3E {
            if isSpace(text[place]), text[(place + 1)...].starts(with: word) {
                return assigned(in: text, from: place + word.count + 2, isQuoted: true)
            }
            place += 1
        }
        return nil
    }

    /// The content of a form's part, whose head names it (RFC 7578 §4.2).
    private static func part(in text: [UInt8], behind start: Int) -> Range<Int>? {
        var place = start
        let limit = min(text.count, start + 1024)
        let blank: [UInt8] = [ASCII.cr, ASCII.lf, ASCII.cr, ASCII.lf]
        while place < limit, text[place] != 0x3E {
            if text[place] == ASCII.cr, text[place...].starts(with: blank) {
                let begin = place + blank.count
                var end = begin
                while end < text.count, !text[end...].starts(with: [ASCII.cr, ASCII.lf, 0x2D, 0x2D]) { end += 1 }
                return begin..<end
            }
            place += 1
        }
        return nil
    }
}
