internal import Formats

/// Tags of HTML and XML with their attributes and content.
extension TextScan {
    mutating func tag(at place: Int) -> MarkupTag? {
        var reached = place
        if let tag = MarkupTag(text, at: place, &reached) { return tag }
        misread += reached - place
        steps.spend(reached - place)
        if misread > 4 * text.count { tagsFrom = reached }
        return nil
    }

    /// Searches `<input name="X" value="Y">`, `<meta name="csrf-token" content="Y">`, `<a href="…">` and
    /// `<password>Y</password>`.
    mutating func look(at tag: MarkupTag) -> Int {
        let named = name(of: tag)
        isInTag = true
        for attribute in tag.attributes {
            let name = text[attribute.name]
            if let named, Self.isWord(name, "value") || Self.isWord(name, "content") {
                places.append((attribute.value, named))
            } else if let meaning = meaning(name, at: attribute.name.lowerBound), !Self.isWord(name, "value") {
                places.append((attribute.value, meaning))
            } else if MessageRedactor.looksLikeURL(Array(text[attribute.value])) {
                places.append((attribute.value, .url))
            } else {
                // a script, a style or data
                var place = attribute.value.lowerBound
                while place < attribute.value.upperBound { place = max(place + 1, look(at: place)) }
            }
        }
        isInTag = false
        guard !tag.isEmpty else { return tag.end }
        let isArea = Self.isWord(text[tag.localName], "textarea")
        guard let meaning = isArea ? named : meaning(text[tag.localName], at: tag.localName.lowerBound) else {
            return tag.end
        }
        let content = content(from: tag.end)
        guard text[content].contains(where: { !Self.isSpace($0) }) else { return tag.end }
        places.append((content, meaning))
        return content.upperBound
    }

    /// The text at the start of an element, after comments, or the content of a CDATA section.
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

    /// The meaning of the element's name.
    private mutating func name(of tag: MarkupTag) -> SecretMeaning? {
        for attribute in tag.attributes where Self.isName(text[attribute.name]) {
            if let meaning = meaning(plain(attribute.value), at: attribute.value.lowerBound) { return meaning }
        }
        return nil
    }

    /// True for an attribute that names its element.
    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        ["name", "id", "property", "itemprop", "http-equiv"].contains { isWord(name, $0) }
    }

    private static func isWord(_ name: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
        name.count == word.utf8CodeUnitCount && zip(name, 0...).allSatisfy { ASCII.lower($0) == word.utf8Start[$1] }
    }
}
