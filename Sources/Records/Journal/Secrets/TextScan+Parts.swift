internal import Formats

/// Parts of multipart forms (RFC 7578).
extension TextScan {
    private static let longestHead = 4096
    private static let disposition = Array("content-disposition".utf8)

    /// The content of a part whose head names it (RFC 7578 §4.2), up to the delimiter.
    mutating func part(behind start: Int) -> Range<Int>? {
        guard hasParts else { return nil }
        var lineStart = start
        defer { steps.spend(start - lineStart) }
        func isFolded() -> Bool { Self.isSpace(text[lineStart]) }
        repeat {
            if lineStart > 0, text[lineStart - 1] == ASCII.lf { lineStart -= 1 }
            while lineStart > 0, text[lineStart - 1] != ASCII.lf, start - lineStart < Self.longestHead {
                lineStart -= 1
            }
        } while lineStart > 0 && start - lineStart < Self.longestHead && lineStart < text.count && isFolded()
        let word = Self.disposition
        guard text.count - lineStart > word.count, text[lineStart..<lineStart + word.count].map(ASCII.lower) == word
        else { return nil }
        steps.spend(Self.longestHead)
        guard let begin = bodyOfPart(start) else { return nil }
        let delimiter = self.delimiter(before: lineStart)
        let end = delimiter.isEmpty ? nil : ByteSearch(delimiter).next(in: text.span, from: begin - 1)
        var last = end ?? text.count
        if end != nil, last > begin, text[last - 1] == ASCII.cr { last -= 1 }
        return begin..<max(begin, last)
    }

    static func speaksOfParts(_ text: [UInt8]) -> Bool {
        var place = 0
        while let hyphen = text[place...].firstIndex(of: 0x2D) {
            place = hyphen + 1
            let start = hyphen - 7
            guard start >= 0, text[start] | 0x20 == disposition[0] else { continue }
            if text[start...].prefix(disposition.count).map(ASCII.lower) == disposition { return true }
        }
        return false
    }

    /// The position after the empty line that ends the head.
    private func bodyOfPart(_ start: Int) -> Int? {
        var place = start
        while place < text.count, place - start < Self.longestHead {
            if text[place] == ASCII.lf {
                if place + 1 < text.count, text[place + 1] == ASCII.lf { return place + 2 }
                if place + 2 < text.count, text[place + 1] == ASCII.cr, text[place + 2] == ASCII.lf { return place + 3 }
            }
            place += 1
        }
        return nil
    }

    /// The delimiter before a part's head: a line that starts with `--`, with the preceding line break.
    private func delimiter(before head: Int) -> [UInt8] {
        var end = head
        while end > 0, head - end < Self.longestHead {
            let last = end - 1
            var start = last
            while start > 0, text[start - 1] != ASCII.lf { start -= 1 }
            if last - start > 2, text[start] == 0x2D, text[start + 1] == 0x2D {
                var line = text[start..<last]
                if line.last == ASCII.cr { line.removeLast() }
                return [ASCII.lf] + line
            }
            end = start
        }
        return []
    }
}
