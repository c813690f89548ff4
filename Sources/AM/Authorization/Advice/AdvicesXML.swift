internal import Formats

/// The XML document that carries an advice: `Advices` with `AttributeValuePair`s, each with one `Attribute name="…"` and any
/// number of `Value`s (docs/protocol.md#conditions-and-their-document).
enum AdvicesXML {
    /// Writes the document without white space.
    ///
    /// AM percent-decodes the document once more than the query requires, so a literal `%` or `+` would be lost. Both are written
    /// as character references, which survive repeated decoding.
    static func document(_ conditions: [Advice.Condition]) -> String {
        var out = "<Advices>"
        for condition in conditions {
            out += "<AttributeValuePair><Attribute name=\"\(condition.name)\"/>"
            for value in condition.values { out += "<Value>\(MarkupText.escaped(value, and: "%+"))</Value>" }
            out += "</AttributeValuePair>"
        }
        return out + "</Advices>"
    }

    /// Reads a document. Returns nil for any other shape.
    static func read(_ bytes: [UInt8]) -> [Advice.Condition]? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var reader = AdvicesXMLReader(bytes)
        return try? reader.document()
    }

    /// Whether the text is a valid condition name in documents and JSON. Documents contain the name unescaped.
    static func isConditionName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == 0x5F }
    }
}

/// Parses the subset of XML 1.0 that the document needs. Document types, processing instructions, unknown entities, other
/// elements and text between elements are malformed.
private struct AdvicesXMLReader {
    struct Malformed: Error {}

    private struct Tag {
        var name: String
        var attributes: [(name: String, value: String)]
        var isEmpty: Bool
    }

    /// Limit of attributes in one tag; the document needs one.
    private static let maxAttributes = 8

    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(Malformed) -> [Advice.Condition] {
        if has("<?xml"), bytes.count > at + 5, isSpace(bytes[at + 5]) { try skip(through: "?>") }
        try skipBetween()
        let root = try startTag()
        guard root.name == "Advices", !root.isEmpty else { throw Malformed() }
        var conditions: [Advice.Condition] = []
        try skipBetween()
        while !has("</") {
            if let condition = try pair() { merge(condition, into: &conditions) }
            guard conditions.count <= Advice.maxConditions else { throw Malformed() }
            try skipBetween()
        }
        try endTag("Advices")
        try skipBetween()
        guard at == bytes.count, !conditions.isEmpty else { throw Malformed() }
        return conditions
    }

    /// Merges pairs of the same name into one pair with all values.
    private func merge(_ condition: Advice.Condition, into conditions: inout [Advice.Condition]) {
        if let index = conditions.firstIndex(where: { $0.name == condition.name }) {
            conditions[index].values += condition.values
        } else {
            conditions.append(condition)
        }
    }

    /// Reads one pair. Returns nil if it has no valid name or no values.
    private mutating func pair() throws(Malformed) -> Advice.Condition? {
        let tag = try startTag()
        guard tag.name == "AttributeValuePair", !tag.isEmpty else { throw Malformed() }
        try skipBetween()
        let attribute = try startTag()
        guard attribute.name == "Attribute", let name = attribute.attributes.first(where: { $0.name == "name" })?.value
        else { throw Malformed() }
        if !attribute.isEmpty {
            try skipBetween()
            try endTag("Attribute")
        }
        var values: [String] = []
        try skipBetween()
        while !has("</") {
            let value = try startTag()
            guard value.name == "Value" else { throw Malformed() }
            if !value.isEmpty {
                let text = try text()
                if !text.isEmpty { values.append(text) }
            }
            try skipBetween()
        }
        try endTag("AttributeValuePair")
        guard AdvicesXML.isConditionName(name), !values.isEmpty else { return nil }
        return Advice.Condition(name, values)
    }

    // MARK: tags

    private mutating func startTag() throws(Malformed) -> Tag {
        try expect("<")
        var tag = Tag(name: try name(), attributes: [], isEmpty: false)
        while true {
            let spaced = skipSpace()
            if has("/>") {
                at += 2
                tag.isEmpty = true
                return tag
            }
            if has(">") {
                at += 1
                return tag
            }
            guard spaced, tag.attributes.count < Self.maxAttributes else { throw Malformed() }
            let attribute = try name()
            guard !tag.attributes.contains(where: { $0.name == attribute }) else { throw Malformed() }
            _ = skipSpace()
            try expect("=")
            _ = skipSpace()
            tag.attributes.append((attribute, try attributeValue()))
        }
    }

    private mutating func endTag(_ expected: String) throws(Malformed) {
        try expect("</")
        guard try name() == expected else { throw Malformed() }
        _ = skipSpace()
        try expect(">")
    }

    private mutating func name() throws(Malformed) -> String {
        let start = at
        while at < bytes.count, isName(bytes[at]) { at += 1 }
        guard at > start, ASCII.isAlpha(bytes[start]) || bytes[start] == 0x5F else { throw Malformed() }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    private mutating func attributeValue() throws(Malformed) -> String {
        guard at < bytes.count, bytes[at] == 0x22 || bytes[at] == 0x27 else { throw Malformed() }
        let quote = bytes[at]
        at += 1
        var out: [UInt8] = []
        while at < bytes.count, bytes[at] != quote {
            guard bytes[at] != 0x3C else { throw Malformed() }
            try character(into: &out)
        }
        guard at < bytes.count else { throw Malformed() }
        at += 1
        return String(decoding: out, as: UTF8.self)
    }

    // MARK: text

    /// Reads the text and end tag of a `Value`. Surrounding white space is removed.
    private mutating func text() throws(Malformed) -> String {
        var out: [UInt8] = []
        while !has("</") {
            guard at < bytes.count else { throw Malformed() }
            if has("<!--") {
                try skip(through: "-->")
            } else if has("<![CDATA[") {
                let start = at + 9
                try skip(through: "]]>")
                guard at - 3 >= start else { throw Malformed() }
                out += bytes[start..<(at - 3)]
            } else {
                guard bytes[at] != 0x3C else { throw Malformed() }
                try character(into: &out)
            }
        }
        try endTag("Value")
        let trimmed = out.drop(while: isSpace)
        let end = trimmed.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? trimmed.startIndex
        return String(decoding: trimmed[..<end], as: UTF8.self)
    }

    /// Reads one character or reference.
    private mutating func character(into out: inout [UInt8]) throws(Malformed) {
        let byte = bytes[at]
        guard byte == 0x26 else {
            guard byte >= 0x20 || isSpace(byte) else { throw Malformed() }
            out.append(byte)
            at += 1
            return
        }
        guard let end = bytes[at...].prefix(12).firstIndex(of: 0x3B) else { throw Malformed() }
        let reference = String(decoding: bytes[(at + 1)..<end], as: UTF8.self)
        at = end + 1
        switch reference {
        case "amp": out.append(0x26)
        case "lt": out.append(0x3C)
        case "gt": out.append(0x3E)
        case "quot": out.append(0x22)
        case "apos": out.append(0x27)
        default:
            guard let scalar = Self.numbered(reference) else { throw Malformed() }
            out += String(Character(scalar)).utf8
        }
    }

    /// Reads `#65` or `#x41`. Returns nil for characters that XML does not allow.
    private static func numbered(_ reference: String) -> Unicode.Scalar? {
        guard reference.hasPrefix("#") else { return nil }
        let isHex = reference.hasPrefix("#x")
        let digits = reference.dropFirst(isHex ? 2 : 1)
        let isPlain = digits.utf8.allSatisfy { isHex ? ASCII.hexValue($0) != nil : ASCII.isDigit($0) }
        guard isPlain, let value = UInt32(digits, radix: isHex ? 16 : 10), let scalar = Unicode.Scalar(value) else {
            return nil
        }
        let isText = value >= 0x20 ? value != 0xFFFE && value != 0xFFFF : [0x09, 0x0A, 0x0D].contains(value)
        return isText ? scalar : nil
    }

    // MARK: tokens

    private func has(_ mark: StaticString) -> Bool {
        guard at + mark.utf8CodeUnitCount <= bytes.count else { return false }
        for index in 0..<mark.utf8CodeUnitCount where bytes[at + index] != mark.utf8Start[index] { return false }
        return true
    }

    private mutating func expect(_ mark: StaticString) throws(Malformed) {
        guard has(mark) else { throw Malformed() }
        at += mark.utf8CodeUnitCount
    }

    private mutating func skip(through mark: StaticString) throws(Malformed) {
        while !has(mark) {
            guard at < bytes.count else { throw Malformed() }
            at += 1
        }
        at += mark.utf8CodeUnitCount
    }

    /// Skips white space and comments, which may stand between elements.
    private mutating func skipBetween() throws(Malformed) {
        while true {
            _ = skipSpace()
            guard has("<!--") else { return }
            try skip(through: "-->")
        }
    }

    private mutating func skipSpace() -> Bool {
        let start = at
        while at < bytes.count, isSpace(bytes[at]) { at += 1 }
        return at > start
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private func isName(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x5F || byte == 0x2D || byte == 0x2E || byte == 0x3A
    }
}
