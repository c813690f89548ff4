internal import Formats

/// Searches a text for names of secrets and the positions of their values.
struct TextScan {
    var places: [(range: Range<Int>, meaning: SecretMeaning)] = []
    let text: [UInt8]
    private let names: SecretNames
    /// True inside an attribute, which contains no tags.
    var isInTag = false
    /// Bytes that were read in vain for tags. Beyond a limit, no text is read twice for a tag.
    var misread = 0
    var tagsFrom = 0
    private lazy var contexts = SecretNames.contexts.filter { $0.word.next(in: text.span) != nil }
    /// True if the text mentions recovery codes, which have no names of their own.
    private lazy var listsCodes = Self.recovery.next(in: text.span) != nil
    /// True if the text may be a multipart form.
    private(set) lazy var hasParts = Self.speaksOfParts(text)
    var steps: StepBudget

    private static let longestName = 64
    private static let recovery = ByteSearch(Array("ecovery".utf8))

    init(_ text: [UInt8], _ names: SecretNames, _ steps: inout StepBudget) {
        self.text = text
        self.names = names
        self.steps = steps
        var place = 0
        while place < text.count, !self.steps.isSpent {
            place = max(place + 1, look(at: place))
        }
        steps = self.steps
    }

    /// - Returns: the position to continue at.
    mutating func look(at place: Int) -> Int {
        let byte = text[place]
        if byte == 0x3C, !isInTag, place >= tagsFrom, let tag = tag(at: place) { return look(at: tag) }
        if !Self.isNameByte(byte) {
            let sign = escape(at: place)
            if let sign, !Self.isNameByte(sign.byte) { return sign.end }
            // an escaped line break in a script
            if byte == 0x5C, listsCodes, place + 1 < text.count, text[place + 1] == 0x6E { return place + 2 }
            guard sign != nil else { return byte == 0x2F || byte == 0x5C ? lookForUser(at: place) : place + 1 }
        }
        let (end, plain) = word(at: place)
        guard end - place <= Self.longestName || plain != nil else { return end }
        guard let meaning = meaning(plain?[...] ?? text[place..<end], at: place),
            let value = value(of: place..<end, meaning)
        else {
            if isCode(place..<end), listsCodes { places.append((place..<end, .secret(.oneTime))) }
            return end
        }
        places.append((value, meaning))
        return max(value.upperBound, lookForItems(behind: value, meaning), lookForOperands(behind: value, meaning))
    }

    /// The end of a word, and its text if it contains escapes.
    private func word(at start: Int) -> (end: Int, plain: [UInt8]?) {
        var end = start
        var plain: [UInt8]?
        while true {
            let begin = end
            while end < text.count, Self.isNameByte(text[end]) { end += 1 }
            plain?.append(contentsOf: text[begin..<end])
            guard let sign = escape(at: end), Self.isNameByte(sign.byte) else { return (end, plain) }
            plain = (plain ?? Array(text[start..<end])) + [sign.byte]
            end = sign.end
        }
    }

    /// An escaped byte: `%61`, `\u0061`, `&#97;`.
    private func escape(at place: Int) -> (byte: UInt8, end: Int)? {
        guard place + 2 < text.count else { return nil }
        switch text[place] {
        case 0x5C: return escaped(at: place)
        case 0x25:
            guard let high = ASCII.hexValue(text[place + 1]), let low = ASCII.hexValue(text[place + 2]) else {
                return nil
            }
            return (high << 4 | low, place + 3)
        case 0x26 where text[place + 1] == 0x23: return entity(at: place + 2)
        default: return nil
        }
    }

    /// The entity after `&#`.
    private func entity(at start: Int) -> (byte: UInt8, end: Int)? {
        let isHex = text[start] | 0x20 == 0x78
        let digits = text[(isHex ? start + 1 : start)...].prefix(8).prefix { ASCII.hexValue($0) != nil }
        guard let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: isHex ? 16 : 10) else { return nil }
        let isEnded = digits.endIndex < text.count && text[digits.endIndex] == 0x3B
        return (byte, isEnded ? digits.endIndex + 1 : digits.endIndex)
    }

    /// A range without escapes.
    func plain(_ range: Range<Int>) -> ArraySlice<UInt8> {
        guard range.count <= Self.longestName, text[range].contains(where: { $0 == 0x26 || $0 == 0x25 || $0 == 0x5C })
        else { return text[range] }
        var out: [UInt8] = []
        var place = range.lowerBound
        while place < range.upperBound {
            let sign = escape(at: place) ?? (text[place], place + 1)
            out.append(sign.byte)
            place = sign.end
        }
        return out[...]
    }

    /// Adds the other strings of an array whose first is a value: `["a", "b"]`.
    private mutating func lookForItems(behind first: Range<Int>, _ meaning: SecretMeaning) -> Int {
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

    /// Adds the other strings of an expression: `a || 'b'`, `a ? 'b' : 'c'`.
    private mutating func lookForOperands(behind first: Range<Int>, _ meaning: SecretMeaning) -> Int {
        var place = first.upperBound
        guard !first.isEmpty else { return place }
        if place < text.count, Self.isQuote(text[place]) || text[place] == 0x60 { place += 1 }
        while true {
            let start = skippingBlanks(place)
            let operators = text[start...].prefix(2).prefix { [0x7C, 0x3F, 0x3A, 0x2B].contains($0) }
            guard !operators.isEmpty else { return place }
            place = operators.endIndex
            while place < text.count, Self.isSpace(text[place]) { place += 1 }
            if let string = string(at: place) {
                places.append((string, meaning))
                place = min(string.upperBound + 1, text.count)
            } else {
                while place < text.count,
                    Self.isNameByte(text[place]) || [0x24, 0x28, 0x29, 0x2E].contains(text[place])
                {
                    place += 1
                }
            }
        }
    }

    /// True for a recovery code: a separate word of mixed letters and digits, possibly in groups of equal length.
    private func isCode(_ word: Range<Int>) -> Bool {
        guard (8...32).contains(word.count), word.lowerBound > 0, word.upperBound < text.count else { return false }
        let before = text[word.lowerBound - 1]
        let isLineEnd = before == 0x6E && word.lowerBound > 1 && text[word.lowerBound - 2] == 0x5C
        let ends: [UInt8] = [0x22, 0x27, 0x3C, 0x5C, 0x2C, ASCII.lf, ASCII.cr]
        guard Self.isQuote(before) || before == 0x3E || before == ASCII.lf || isLineEnd,
            ends.contains(text[word.upperBound])
        else { return false }
        let bytes = text[word]
        let groups = bytes.split(separator: 0x2D, omittingEmptySubsequences: false)
        return groups.allSatisfy { $0.count > 3 && $0.count == groups[0].count } && !bytes.contains(0x5F)
            && (bytes.contains(where: ASCII.isDigit)
                || bytes.contains { $0 < 0x5B } && bytes.contains { $0 > 0x60 })
    }

    /// A byte escaped as in scripts, `\x3D` or `\u003D`, also inside another string.
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

    mutating func meaning(_ name: ArraySlice<UInt8>, at place: Int) -> SecretMeaning? {
        if let meaning = names.meaning(name) { return meaning }
        guard name.count <= SecretNames.Context.longest, names.mayTell(name) else { return nil }
        let name = Array(name)
        return contexts.contains { $0.names.contains(name) && isThere(place, $0.place) } ? .secret(.secret) : nil
    }

    private func isThere(_ name: Int, _ place: SecretNames.Context.Place) -> Bool {
        let before = name > 0 ? text[name - 1] : 0
        switch place {
        case .anywhere: return true
        case .member:
            // `"d":`, and `{d:`
            let sign = text[..<name].last { $0 != ASCII.space } ?? 0
            return Self.isQuote(before) || sign == 0x7B || sign == 0x2C
        case .part: return text[..<name].suffix(6).elementsEqual("token.".utf8)
        case .parameter:
            if before == 0x26 || before == 0x3F || before == 0x3B { return true }
            // `\x26` and `\u0026`
            return [4, 6].contains { count in
                name >= count && escaped(at: name - count).map { $0.byte == 0x26 || $0.byte == 0x3F } == true
            }
        }
    }

    // MARK: users

    /// Adds the user of `//user:password@`, up to the end of the host.
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

    /// The range of a name's value.
    private mutating func value(of name: Range<Int>, _ meaning: SecretMeaning) -> Range<Int>? {
        var place = name.upperBound
        // `name[]`, `name[0]`
        while place < text.count, text[place] == 0x5B, let close = text[place...].prefix(8).firstIndex(of: 0x5D) {
            place = close + 1
        }
        // the closing quote of the name, escaped inside another string
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
        // `x += value`, `x ||= value`
        let operators = text[place...].prefix(2).prefix { [0x7C, 0x3F, 0x2B].contains($0) }
        if !operators.isEmpty, operators.endIndex < text.count, text[operators.endIndex] == 0x3D {
            return word(from: operators.endIndex + 1)
        }
        // `setItem('name', 'value')`
        let begin = text[..<name.lowerBound].dropLast().last { $0 != ASCII.space }
        if isQuoted, let sign, sign.byte == 0x2C, begin == 0x28 { return string(at: skippingBlanks(sign.end)) }
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

    /// The value after `"name":`: a string, a number, or the first of an array.
    private func member(from start: Int) -> Range<Int>? {
        var place = start
        while place < text.count, Self.isSpace(text[place]) || text[place] == 0x5B || text[place] == 0x7B { place += 1 }
        if let string = string(at: place) { return string }
        var end = place
        while end < text.count, ASCII.isDigit(text[end]) || [0x2B, 0x2D, 0x2E].contains(text[end]) { end += 1 }
        return end > place ? place..<end : nil
    }

    /// The value after `name:`: a string, or the rest of the line.
    private func line(from start: Int, _ meaning: SecretMeaning) -> Range<Int>? {
        var place = skippingBlanks(start)
        // `name: [`, and `name: |` with its own lines
        while place < text.count, text[place] == 0x5B || text[place] == 0x7B { place += 1 }
        if let string = string(at: place) { return string }
        // a code in a sentence is usually an error code
        if case .secret(.code) = meaning { return nil }
        place = skippingBlanks(block(behind: place) ?? place)
        guard place > start || meaning.isSecretInItself else { return nil }
        var end = place
        while end < text.count, text[end] != ASCII.lf, text[end] != ASCII.cr, text[end] != 0x3C, text[end] != 0x22 {
            end += 1
        }
        return place..<end
    }

    /// The start of an indented YAML block.
    private func block(behind start: Int) -> Int? {
        var place = start
        while place < text.count, [0x7C, 0x3E, 0x2D, 0x2B].contains(text[place]) { place += 1 }
        if place < text.count, text[place] == ASCII.cr { place += 1 }
        guard place + 1 < text.count, text[place] == ASCII.lf, text[place + 1] == ASCII.space else { return nil }
        return place + 1
    }

    /// The value after `name=`: a string, or a word.
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
        // `name=value; other=value`, of a Cookie field or a script: the value has one alias everywhere
        if end > place, text[end - 1] == 0x3B { end -= 1 }
        return place..<end
    }

    private static func endsWord(_ byte: UInt8) -> Bool { [0x26, 0x22, 0x27, 0x60, 0x3C, 0x3E].contains(byte) }

    private func endsWordEscaped(_ place: Int) -> Bool {
        escaped(at: place).map { Self.endsWord($0.byte) || Self.isSpace($0.byte) } == true
    }

    /// The content between quotes, which may be escaped, or backticks.
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
}
