internal import Formats

/// Looks through a text for what names secrets, and where these stand.
struct TextScan {
    enum Meaning {
        case secret(SecretKind)
        /// As in `Authorization`.
        case credentials
        case cookies
        case url
        /// What stands before the `@` of a URL.
        case user

        /// Also where the name stands in other texts, as in `state:open`, a value behind it is one as a rule.
        var isSecretInItself: Bool {
            switch self {
            case .secret(.password), .secret(.oneTime), .credentials: true
            default: false
            }
        }
    }

    private(set) var places: [(range: Range<Int>, meaning: Meaning)] = []
    private let text: [UInt8]
    private let names: SecretNames
    /// What stands in an attribute has no tags of its own.
    private var isInTag = false
    /// Bytes that were read for tags which are none. Where that is much, what was read is not read again for one.
    private var misread = 0
    private var tagsFrom = 0
    private let contexts: [SecretNames.Context]
    /// It speaks of recovery codes, which nothing names one by one.
    private let listsCodes: Bool
    /// It may be a form with parts.
    private let hasParts: Bool
    private var steps: StepBudget

    private static let longestName = 64
    private static let recovery = ByteSearch(Array("ecovery".utf8))
    private static let disposition = Array("content-disposition".utf8)

    init(_ text: [UInt8], _ names: SecretNames, _ steps: inout StepBudget) {
        self.text = text
        self.names = names
        self.steps = steps
        contexts = SecretNames.contexts.filter { $0.word.next(in: text.span) != nil }
        listsCodes = Self.recovery.next(in: text.span) != nil
        hasParts = Self.speaksOfParts(text)
        var place = 0
        while place < text.count, !self.steps.isSpent {
            place = max(place + 1, look(at: place))
        }
        steps = self.steps
    }

    /// - Returns: where to go on.
    private mutating func look(at place: Int) -> Int {
        let byte = text[place]
        if byte == 0x3C, !isInTag, place >= tagsFrom, let tag = tag(at: place) { return look(at: tag) }
        if byte == 0x5C, let sign = escaped(at: place), !Self.isNameByte(sign.byte) { return sign.end }
        // a line that ends in a string of a script
        if byte == 0x5C, listsCodes, place + 1 < text.count, text[place + 1] == 0x6E { return place + 2 }
        if byte == 0x2F || byte == 0x5C { return lookForUser(at: place) }
        guard Self.isNameByte(byte) else { return place + 1 }
        var end = place
        while end < text.count, Self.isNameByte(text[end]) { end += 1 }
        guard end - place <= Self.longestName else { return end }
        guard let meaning = meaning(place..<end), let value = value(behind: end, meaning) else {
            if listsCodes, isCode(place..<end) { places.append((place..<end, .secret(.oneTime))) }
            return end
        }
        places.append((value, meaning))
        return max(value.upperBound, lookForItems(behind: value, meaning))
    }

    /// The other strings of an array whose first is a value: `["a", "b"]`.
    private mutating func lookForItems(behind first: Range<Int>, _ meaning: Meaning) -> Int {
        var place = first.lowerBound - 2
        while place >= 0, Self.isSpace(text[place]) || text[place] == 0x5C { place -= 1 }
        guard place >= 0, text[place] == 0x5B else { return first.upperBound }
        var last = first
        while true {
            var next = last.upperBound
            if next < text.count, text[next] == 0x5C { next += 1 }
            guard next < text.count, Self.isQuote(text[next]) else { return last.upperBound }
            next += 1
            while next < text.count, Self.isSpace(text[next]) || text[next] == 0x2C { next += 1 }
            guard let item = string(at: next) else { return last.upperBound }
            places.append((item, meaning))
            last = item
        }
    }

    /// A word by itself, of letters and digits as nobody speaks them.
    private func isCode(_ word: Range<Int>) -> Bool {
        guard (8...32).contains(word.count), word.lowerBound > 0, word.upperBound < text.count else { return false }
        let before = text[word.lowerBound - 1]
        let isLineEnd = before == 0x6E && word.lowerBound > 1 && text[word.lowerBound - 2] == 0x5C
        let ends: [UInt8] = [0x22, 0x27, 0x3C, 0x5C, 0x2C, ASCII.lf, ASCII.cr]
        guard Self.isQuote(before) || before == 0x3E || before == ASCII.lf || isLineEnd,
            ends.contains(text[word.upperBound])
        else { return false }
        let bytes = text[word]
        return bytes.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) }
            && (bytes.contains(where: ASCII.isDigit)
                || bytes.contains { $0 < 0x5B } && bytes.contains { $0 > 0x60 })
    }

    /// A sign as scripts write it, `\x3D` or `\u003D`, also where these stand in another text.
    private func escaped(at start: Int) -> (byte: UInt8, end: Int)? {
        var place = start
        while place < text.count, text[place] == 0x5C, place - start < 4 { place += 1 }
        guard place > start, place < text.count else { return nil }
        switch text[place] {
        case 0x78: place += 1
        case 0x75 where text[(place + 1)...].starts(with: [0x30, 0x30]): place += 3
        default: return nil
        }
        guard place + 1 < text.count, let high = ASCII.hexValue(text[place]), let low = ASCII.hexValue(text[place + 1])
        else { return nil }
        return (high << 4 | low, place + 2)
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == ASCII.space || byte == ASCII.tab || byte == ASCII.cr || byte == ASCII.lf
    }

    static func isQuote(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0x27 }

    private func meaning(_ place: Range<Int>) -> Meaning? {
        let name = text[place]
        if SecretNames.isAuthorization(name) { return .credentials }
        if let kind = names.kind(name) { return .secret(kind) }
        for context in contexts where isThere(place, context.place) && context.names.contains(Array(name)) {
            return .secret(.secret)
        }
        return Self.isWord(name, "cookie") ? .cookies : nil
    }

    private func isThere(_ name: Range<Int>, _ place: SecretNames.Context.Place) -> Bool {
        let before = name.lowerBound > 0 ? text[name.lowerBound - 1] : 0
        switch place {
        case .anywhere: return true
        case .member: return Self.isQuote(before)
        case .parameter:
            if before == 0x26 || before == 0x3F || before == 0x3B { return true }
            // `\x26` and `\u0026`
            return [4, 6].contains { count in
                name.lowerBound >= count
                    && escaped(at: name.lowerBound - count).map { $0.byte == 0x26 || $0.byte == 0x3F } == true
            }
        }
    }

    // MARK: users

    /// `//user:password@`, up to the end of the host.
    private mutating func lookForUser(at place: Int) -> Int {
        guard place + 1 < text.count, text[place + 1] == 0x2F || text[place + 1] == 0x5C else { return place + 1 }
        let start = place + 2
        var end = start
        var at: Int?
        while end < text.count, !Self.isSpace(text[end]), !Self.isQuote(text[end]),
            ![0x2F, 0x5C, 0x3F, 0x23, 0x3C, 0x3E].contains(text[end])
        {
            if text[end] == 0x40 { at = end }
            end += 1
        }
        guard let at else { return start }
        places.append((start..<at, .user))
        return at
    }

    // MARK: names and values

    /// Where the value of a name stands that ends there.
    private mutating func value(behind end: Int, _ meaning: Meaning) -> Range<Int>? {
        var place = end
        // `name[]`, `name[0]`
        while place < text.count, text[place] == 0x5B, let close = text[place...].prefix(8).firstIndex(of: 0x5D) {
            place = close + 1
        }
        // the quote that ends the name, with its escape where the text stands in another
        var isQuoted = false
        if let sign = escaped(at: place) {
            if Self.isQuote(sign.byte) { (place, isQuoted) = (sign.end, true) }
        } else {
            if place < text.count, text[place] == 0x5C { place += 1 }
            isQuoted = place < text.count && Self.isQuote(text[place])
            if isQuoted { place += 1 }
        }
        // `x['name'] = value`
        if isQuoted, place < text.count, text[place] == 0x5D { place += 1 }
        let behindName = place
        while place < text.count, Self.isSpace(text[place]) { place += 1 }
        let sign = escaped(at: place) ?? (place < text.count ? (text[place], place + 1) : nil)
        if let sign, sign.byte == ASCII.colon {
            return isQuoted ? member(from: sign.end) : line(from: sign.end, meaning)
        }
        if let sign, sign.byte == 0x3D { return word(from: sign.end) }
        guard behindName < text.count, isQuoted || Self.isSpace(text[behindName]) || text[behindName] == 0x3B else {
            return nil
        }
        return part(behind: behindName)
    }

    private func skippingBlanks(_ start: Int) -> Int {
        var place = start
        while place < text.count, text[place] == ASCII.space || text[place] == ASCII.tab { place += 1 }
        return place
    }

    /// Behind `"name":` a string, or a number; the first of an array.
    private func member(from start: Int) -> Range<Int>? {
        var place = start
        while place < text.count, Self.isSpace(text[place]) || text[place] == 0x5B || text[place] == 0x7B { place += 1 }
        if let string = string(at: place) { return string }
        var end = place
        while end < text.count, ASCII.isDigit(text[end]) || [0x2B, 0x2D, 0x2E].contains(text[end]) { end += 1 }
        return end > place ? place..<end : nil
    }

    /// Behind `name:` a string, or the rest of the line.
    private func line(from start: Int, _ meaning: Meaning) -> Range<Int>? {
        var place = skippingBlanks(start)
        // `name: [`, and `name: |` with lines of its own
        while place < text.count, text[place] == 0x5B || text[place] == 0x7B { place += 1 }
        if let string = string(at: place) { return string }
        // a code that a sentence tells of is one of an error, as a rule
        if case .secret(.code) = meaning { return nil }
        place = skippingBlanks(block(behind: place) ?? place)
        guard place > start || meaning.isSecretInItself else { return nil }
        var end = place
        while end < text.count, text[end] != ASCII.lf, text[end] != ASCII.cr, text[end] != 0x3C, text[end] != 0x22 {
            end += 1
        }
        return place..<end
    }

    /// Where the lines of a value of YAML begin, which are indented below its name.
    private func block(behind start: Int) -> Int? {
        var place = start
        while place < text.count, [0x7C, 0x3E, 0x2D, 0x2B].contains(text[place]) { place += 1 }
        if place < text.count, text[place] == ASCII.cr { place += 1 }
        guard place + 1 < text.count, text[place] == ASCII.lf, text[place + 1] == ASCII.space else { return nil }
        return place + 1
    }

    /// Behind `name=` a string, or a word.
    private func word(from start: Int) -> Range<Int>? {
        var place = start
        // a comparison
        while place < text.count, text[place] == 0x3D { place += 1 }
        place = skippingBlanks(place)
        var inner = place
        while inner < text.count, [0x5B, 0x7B, 0x28].contains(text[inner]) || Self.isSpace(text[inner]) { inner += 1 }
        if let string = string(at: inner) { return string }
        var end = place
        while end < text.count, !Self.isSpace(text[end]), !Self.endsWord(text[end]),
            !(text[end] == 0x5C && (end + 1 < text.count && text[end + 1] == 0x22 || endsWordEscaped(end)))
        {
            end += 1
        }
        return place..<end
    }

    private static func endsWord(_ byte: UInt8) -> Bool { [0x26, 0x22, 0x27, 0x60, 0x3C, 0x3E].contains(byte) }

    private func endsWordEscaped(_ place: Int) -> Bool {
        escaped(at: place).map { Self.endsWord($0.byte) || Self.isSpace($0.byte) } == true
    }

    /// What stands between quotes, which may be escaped, or between backticks.
    private func string(at start: Int) -> Range<Int>? {
        if let quote = escaped(at: start), Self.isQuote(quote.byte) {
            var end = quote.end
            while end < text.count, text[end] != 0x5C || escaped(at: end)?.byte != quote.byte { end += 1 }
            return quote.end..<end
        }
        var place = start
        var isEscaped = false
        if place + 1 < text.count, text[place] == 0x5C, Self.isQuote(text[place + 1]) {
            isEscaped = true
            place += 1
        }
        guard place < text.count, Self.isQuote(text[place]) || text[place] == 0x60 else { return nil }
        let quote = text[place]
        var end = place + 1
        while end < text.count, text[end] != quote {
            if text[end] == 0x5C {
                if isEscaped { break }
                end += 1
            }
            end += 1
        }
        return place + 1..<min(end, text.count)
    }

    // MARK: parts of forms

    private static let longestHead = 4096

    /// The content of a form's part, whose head names it (RFC 7578 §4.2): up to the line that began it.
    private mutating func part(behind start: Int) -> Range<Int>? {
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

    private static func speaksOfParts(_ text: [UInt8]) -> Bool {
        var place = 0
        while let hyphen = text[place...].firstIndex(of: 0x2D) {
            place = hyphen + 1
            let start = hyphen - 7
            guard start >= 0, text[start] | 0x20 == disposition[0] else { continue }
            if text[start...].prefix(disposition.count).map(ASCII.lower) == disposition { return true }
        }
        return false
    }

    /// Behind the empty line that ends the head.
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

    /// The line before a part's head that begins with `--`, with the end of the line before it.
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

    // MARK: tags

    private mutating func tag(at place: Int) -> MarkupTag? {
        var reached = place
        if let tag = MarkupTag(text, at: place, &reached) { return tag }
        misread += reached - place
        steps.spend(reached - place)
        if misread > 4 * text.count { tagsFrom = reached }
        return nil
    }

    /// `<input name="X" value="Y">`, `<meta name="csrf-token" content="Y">`, `<a href="…">`, `<password>Y</password>`.
    private mutating func look(at tag: MarkupTag) -> Int {
        let named = name(of: tag)
        isInTag = true
        for attribute in tag.attributes {
            let name = text[attribute.name]
            if let named, Self.isWord(name, "value") || Self.isWord(name, "content") {
                places.append((attribute.value, named))
            } else if let meaning = meaning(attribute.name), !Self.isWord(name, "value") {
                places.append((attribute.value, meaning))
            } else if MessageRedactor.looksLikeURL(Array(text[attribute.value])) {
                places.append((attribute.value, .url))
            } else {
                // a script, a style, data
                var place = attribute.value.lowerBound
                while place < attribute.value.upperBound { place = max(place + 1, look(at: place)) }
            }
        }
        isInTag = false
        guard !tag.isEmpty else { return tag.end }
        let isArea = Self.isWord(text[tag.localName], "textarea")
        guard let meaning = isArea ? named : meaning(tag.localName) else { return tag.end }
        let content = content(from: tag.end)
        guard text[content].contains(where: { !Self.isSpace($0) }) else { return tag.end }
        places.append((content, meaning))
        return content.upperBound
    }

    /// The text that an element begins with, behind comments; of a CDATA section what is in it.
    private func content(from start: Int) -> Range<Int> {
        var place = start
        while true {
            while place < text.count, Self.isSpace(text[place]) { place += 1 }
            guard text[place...].starts(with: "<!--".utf8) else { break }
            let near = text.span.extracting(place..<min(text.count, place + Self.longestComment))
            guard let end = Self.commentEnd.next(in: near) else { break }
            place += end + 3
        }
        if text[place...].starts(with: "<![CDATA[".utf8) {
            return place + 9..<(Self.sectionEnd.next(in: text.span, from: place + 9) ?? text.count)
        }
        return place..<(text[place...].firstIndex(of: 0x3C) ?? text.count)
    }

    private static let longestComment = 1024
    private static let commentEnd = ByteSearch(Array("-->".utf8))
    private static let sectionEnd = ByteSearch(Array("]]>".utf8))

    /// What an element is called.
    private func name(of tag: MarkupTag) -> Meaning? {
        for attribute in tag.attributes where Self.isName(text[attribute.name]) {
            if let meaning = meaning(attribute.value) { return meaning }
        }
        return nil
    }

    /// Of an attribute that says what its element is called.
    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        isWord(name, "name") || isWord(name, "id") || isWord(name, "property") || isWord(name, "itemprop")
    }

    private static func isWord(_ name: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
        name.count == word.utf8CodeUnitCount && zip(name, 0...).allSatisfy { ASCII.lower($0) == word.utf8Start[$1] }
    }
}
