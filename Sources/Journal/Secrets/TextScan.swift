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
    /// In what speaks of callbacks and is no JSON as a whole, every `value` may be an answer.
    private let hasCallbacks: Bool

    private static let longestName = 64
    private static let callbacks = ByteSearch(Array("callbacks".utf8))

    init(_ text: [UInt8], _ names: SecretNames) {
        self.text = text
        self.names = names
        hasCallbacks = Self.callbacks.next(in: text.span) != nil
        var place = 0
        while place < text.count {
            place = max(place + 1, look(at: place))
        }
    }

    /// - Returns: where to go on.
    private mutating func look(at place: Int) -> Int {
        let byte = text[place]
        if byte == 0x3C, !isInTag, place >= tagsFrom, let tag = tag(at: place) { return look(at: tag) }
        if byte == 0x2F || byte == 0x5C { return lookForUser(at: place) }
        guard Self.isNameByte(byte) else { return place + 1 }
        var end = place
        while end < text.count, Self.isNameByte(text[end]) { end += 1 }
        guard end - place <= Self.longestName, let meaning = meaning(place..<end),
            let value = value(behind: end, meaning)
        else { return end }
        places.append((value, meaning))
        return value.upperBound
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == ASCII.space || byte == ASCII.tab || byte == ASCII.cr || byte == ASCII.lf
    }

    static func isQuote(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0x27 }

    private func meaning(_ name: Range<Int>) -> Meaning? {
        let name = text[name]
        if SecretNames.isAuthorization(name) { return .credentials }
        if let kind = names.kind(name) { return .secret(kind) }
        if hasCallbacks, name.elementsEqual("value".utf8) { return .secret(.secret) }
        return name.map(ASCII.lower).elementsEqual("cookie".utf8) ? .cookies : nil
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
    private func value(behind end: Int, _ meaning: Meaning) -> Range<Int>? {
        var place = end
        // `name[]`, `name[0]`
        while place < text.count, text[place] == 0x5B, let close = text[place...].prefix(8).firstIndex(of: 0x5D) {
            place = close + 1
        }
        // the quote that ends the name, with its escape where the text stands in another
        if place < text.count, text[place] == 0x5C { place += 1 }
        let isQuoted = place < text.count && Self.isQuote(text[place])
        if isQuoted { place += 1 }
        // `x['name'] = value`
        if isQuoted, place < text.count, text[place] == 0x5D { place += 1 }
        let behindName = place
        while place < text.count, Self.isSpace(text[place]) { place += 1 }
        if place < text.count, text[place] == ASCII.colon {
            return isQuoted ? member(from: place + 1) : line(from: place + 1, meaning)
        }
        if place < text.count, text[place] == 0x3D { return word(from: place + 1) }
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
        // a code that a sentence tells of is one of an error, as a rule
        if case .secret(.code) = meaning { return nil }
        var place = skippingBlanks(start)
        // `name: [`, and `name: |` with lines of its own
        while place < text.count, text[place] == 0x5B || text[place] == 0x7B { place += 1 }
        if let string = string(at: place) { return string }
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
        if let string = string(at: place) { return string }
        var end = place
        while end < text.count, !Self.isSpace(text[end]), ![0x26, 0x22, 0x27, 0x60, 0x3C, 0x3E].contains(text[end]),
            !(text[end] == 0x5C && end + 1 < text.count && text[end + 1] == 0x22)
        {
            end += 1
        }
        return place..<end
    }

    /// What stands between quotes, which may be escaped, or between backticks.
    private func string(at start: Int) -> Range<Int>? {
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
    private func part(behind start: Int) -> Range<Int>? {
        var lineStart = start
        func isFolded() -> Bool { Self.isSpace(text[lineStart]) }
        repeat {
            if lineStart > 0, text[lineStart - 1] == ASCII.lf { lineStart -= 1 }
            while lineStart > 0, text[lineStart - 1] != ASCII.lf, start - lineStart < Self.longestHead {
                lineStart -= 1
            }
        } while lineStart > 0 && start - lineStart < Self.longestHead && lineStart < text.count && isFolded()
        let word = Array("content-disposition".utf8)
        guard text.count - lineStart > word.count, text[lineStart..<lineStart + word.count].map(ASCII.lower) == word
        else { return nil }
        guard let begin = bodyOfPart(start) else { return nil }
        let delimiter = self.delimiter(before: lineStart)
        let end = delimiter.isEmpty ? nil : ByteSearch(delimiter).next(in: text.span, from: begin - 1)
        var last = end ?? text.count
        if end != nil, last > begin, text[last - 1] == ASCII.cr { last -= 1 }
        return begin..<max(begin, last)
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
