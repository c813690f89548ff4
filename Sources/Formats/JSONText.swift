/// A JSON text that is read and edited where it stands: what an edit does not concern stays as it was written, byte for
/// byte, be it order, white space, the spelling of a number or of a string.
///
/// A name that stands more than once in an object is read and edited everywhere: which of them counts is for the reader to
/// say (RFC 8259 §4), and not all readers say the same.
///
/// Each call looks at the text once, and takes time in proportion to it.
public struct JSONText: Sendable {
    public internal(set) var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The values at a place, in the order in which they stand; none where there is no such place, or what stands there
    /// holds what is no character.
    /// - Throws: for what is no JSON.
    public func values(at pointer: JSONPointer) throws(JSONFault) -> [JSONValue] {
        var walk = JSONWalk(pointer, .find)
        try walk.run(bytes.span)
        var values: [JSONValue] = []
        for range in walk.found {
            if let value = try? JSONValue(parsing: bytes.span.extracting(range)) { values.append(value) }
        }
        return values
    }

    /// Puts a value where the pointer leads. A missing member is added behind the last, with the white space that the last
    /// has; objects that are missing on the way are made; `-` means a new last item of an array.
    /// - Parameters:
    ///   - value: a JSON text.
    ///   - bound: how many bytes the text may have afterwards.
    /// - Throws: the text is unchanged then.
    public mutating func set(_ pointer: JSONPointer, to value: [UInt8], bound: Int) throws(JSONEditFault) {
        var walk = JSONWalk(pointer, .set(value))
        try walk.runEdit(bytes.span)
        try apply(walk.splices, bound: bound)
    }

    /// Takes out what the pointer leads to, with its name and the comma beside it.
    /// - Returns: how many members or items there were.
    /// - Throws: the text is unchanged then.
    @discardableResult
    public mutating func remove(_ pointer: JSONPointer) throws(JSONEditFault) -> Int {
        guard !pointer.isWhole else { throw .nothingLeft }
        var walk = JSONWalk(pointer, .remove)
        try walk.runEdit(bytes.span)
        try apply(walk.splices, bound: bytes.count)
        return walk.found.count
    }

    private mutating func apply(_ splices: [JSONWalk.Splice], bound: Int) throws(JSONEditFault) {
        let count = splices.reduce(bytes.count) { $0 + $1.text.count - $1.range.count }
        guard splices.isEmpty || count <= bound else { throw .tooLarge(bound: bound) }
        apply(splices)
    }

    /// - Parameter splices: in order, none in another.
    mutating func apply(_ splices: [JSONWalk.Splice]) {
        guard !splices.isEmpty else { return }
        var out: [UInt8] = []
        var copied = 0
        for splice in splices {
            out += bytes[copied..<splice.range.lowerBound]
            out += splice.text
            copied = splice.range.upperBound
        }
        out += bytes[copied...]
        bytes = out
    }
}

/// Why an edit of a JSON text was not made.
public enum JSONEditFault: Error, Equatable, Sendable {
    /// It is no JSON from this byte on.
    case invalid(offset: Int)
    /// On the way stands what has neither members nor items.
    case noContainer
    /// What is to be an array's item is no number below its count.
    case noItem(count: Int)
    /// It would take the whole text out.
    case nothingLeft
    case tooLarge(bound: Int)

    /// Completes "the body …".
    public var explanation: String {
        switch self {
        case .invalid(let offset): "is no JSON from byte \(offset) on"
        case .noContainer: "has no object or array there"
        case .noItem(let count): "has an array of \(count) there; an item is named by its number, or - for a new one"
        case .nothingLeft: "would be no JSON without all of it"
        case .tooLarge(let bound): "would be larger than \(bound) bytes"
        }
    }
}

/// One way through a JSON text, from its beginning to its end, that looks for a place in it.
struct JSONWalk {
    enum Purpose {
        case find, remove
        case set([UInt8])
    }

    /// Bytes to be replaced.
    struct Splice {
        var range: Range<Int>
        var text: [UInt8]
    }

    private let tokens: [[UInt8]]
    private let purpose: Purpose
    /// Where the values stand that the pointer leads to.
    private(set) var found: [Range<Int>] = []
    /// In order, none in another.
    private(set) var splices: [Splice] = []
    private var fault: JSONEditFault?

    init(_ pointer: JSONPointer, _ purpose: Purpose) {
        tokens = pointer.tokens
        self.purpose = purpose
    }

    mutating func runEdit(_ text: Span<UInt8>) throws(JSONEditFault) {
        do throws(JSONFault) { try run(text) } catch { throw .invalid(offset: error.offset) }
        if let fault { throw fault }
    }

    mutating func run(_ text: Span<UInt8>) throws(JSONFault) {
        // the grammar has ASCII alone outside of strings, so the whole is UTF-8 where every string is
        guard text.isUTF8 else { throw JSONFault(offset: 0) }
        var reader = JSONReader()
        // a mark that some write and nobody has to expect (RFC 8259 §8.1)
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { reader.position = 3 }
        reader.skipSpace(text)
        try value(&reader, text, 0)
        reader.skipSpace(text)
        guard reader.position == text.count else { throw JSONFault(offset: reader.position) }
    }

    /// - Parameter level: how many of the tokens have been followed.
    private mutating func value(_ reader: inout JSONReader, _ text: Span<UInt8>, _ level: Int) throws(JSONFault) {
        let start = reader.position
        guard level < tokens.count, start < text.count else {
            try reader.skipValue(text, depth: level)
            found.append(start..<reader.position)
            if case .set(let value) = purpose { splices.append(Splice(range: start..<reader.position, text: value)) }
            return
        }
        switch text[start] {
        case 0x7B: try object(&reader, text, level)
        case 0x5B: try array(&reader, text, level)
        default:
            try reader.skipValue(text, depth: level)
            complain(.noContainer)
        }
    }

    private mutating func complain(_ fault: JSONEditFault) {
        if case .set = purpose, self.fault == nil { self.fault = fault }
    }

    private mutating func object(_ reader: inout JSONReader, _ text: Span<UInt8>, _ level: Int) throws(JSONFault) {
        var parts = Parts(open: reader.position)
        try reader.members(text) { reader, text throws(JSONFault) in
            parts.begin(reader)
            let name = try reader.skipString(text)
            parts.nameEnd = reader.position
            try reader.skipColon(text)
            parts.valueStart = reader.position
            let isMeant = isName(reader, text, name, tokens[level])
            try part(&reader, text, level, isMeant: isMeant, &parts)
        }
        finish(&parts)
        guard case .set(let value) = purpose, !parts.hasMatch else { return }
        var member: [UInt8] = []
        JSONValue.writeString(String(decoding: tokens[level], as: UTF8.self), to: &member)
        if parts.isEmpty {
            member.append(ASCII.colon)
        } else {
            member.append(text.extracting(parts.nameEnd..<parts.valueStart))
        }
        member += nested(value, below: level)
        insert(member, text, parts)
    }

    private mutating func array(_ reader: inout JSONReader, _ text: Span<UInt8>, _ level: Int) throws(JSONFault) {
        var parts = Parts(open: reader.position)
        let wanted = JSONPointer.index(tokens[level])
        var count = 0
        try reader.items(text) { reader, text throws(JSONFault) in
            parts.begin(reader)
            try part(&reader, text, level, isMeant: count == wanted, &parts)
            count += 1
        }
        finish(&parts)
        guard case .set(let value) = purpose, !parts.hasMatch else { return }
        guard tokens[level] == JSONPointer.end else { return complain(.noItem(count: count)) }
        insert(nested(value, below: level), text, parts)
    }

    /// Takes one member's value or one item.
    private mutating func part(
        _ reader: inout JSONReader, _ text: Span<UInt8>, _ level: Int, isMeant: Bool, _ parts: inout Parts
    ) throws(JSONFault) {
        let start = reader.position
        if isMeant { parts.hasMatch = true }
        if isMeant, level + 1 == tokens.count, case .remove = purpose {
            try reader.skipValue(text, depth: level + 1)
            found.append(start..<reader.position)
            // with the comma before it, where something stays before it
            if parts.keepsOne {
                splices.append(Splice(range: parts.separator..<reader.position, text: []))
            } else if parts.leading == nil {
                parts.leading = parts.start
            }
        } else {
            // what was taken out before the first that stays goes with the comma behind it
            if let leading = parts.leading { splices.append(Splice(range: leading..<parts.start, text: [])) }
            parts.leading = nil
            parts.keepsOne = true
            if isMeant { try value(&reader, text, level + 1) } else { try reader.skipValue(text, depth: level + 1) }
        }
        parts.end = reader.position
    }

    /// Where everything was taken out, the white space before it goes as well.
    private mutating func finish(_ parts: inout Parts) {
        if parts.leading != nil { splices.append(Splice(range: parts.open + 1..<parts.end, text: [])) }
    }

    private mutating func insert(_ part: [UInt8], _ text: Span<UInt8>, _ parts: Parts) {
        guard !parts.isEmpty else {
            return splices.append(Splice(range: parts.open + 1..<parts.open + 1, text: part))
        }
        var added: [UInt8] = [0x2C]
        added.append(text.extracting(parts.separator + 1..<parts.start))
        splices.append(Splice(range: parts.end..<parts.end, text: added + part))
    }

    /// The value in the objects that are missing around it.
    private func nested(_ value: [UInt8], below level: Int) -> [UInt8] {
        var out: [UInt8] = []
        for token in tokens[(level + 1)...] {
            out.append(0x7B)
            JSONValue.writeString(String(decoding: token, as: UTF8.self), to: &out)
            out.append(ASCII.colon)
        }
        out += value
        out += [UInt8](repeating: 0x7D, count: tokens.count - level - 1)
        return out
    }

    /// Whether a name means the token, however it is spelt.
    private func isName(
        _ reader: borrowing JSONReader, _ text: Span<UInt8>, _ name: JSONReader.StringContent, _ token: [UInt8]
    ) -> Bool {
        guard name.isEscaped else {
            guard name.range.count == token.count else { return false }
            for index in token.indices where text[name.range.lowerBound + index] != token[index] { return false }
            return true
        }
        return (try? reader.unescaped(text, name)) == token
    }

    /// What is known of the members or items of one object or array while they are passed.
    private struct Parts {
        /// Of its bracket.
        let open: Int
        /// Before the one at hand, or the last.
        var separator = 0
        var start = 0
        var nameEnd = 0
        var valueStart = 0
        var end = 0
        var isEmpty = true
        /// Whether one was passed that stays.
        var keepsOne = false
        /// Where those begin that go, as long as none before them stays.
        var leading: Int?
        var hasMatch = false

        init(open: Int) { self.open = open }

        mutating func begin(_ reader: borrowing JSONReader) {
            separator = reader.separator
            start = reader.position
            isEmpty = false
        }
    }
}
