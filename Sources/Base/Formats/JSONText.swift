/// A JSON text that is edited in place. Bytes outside an edit stay as they are: order, white space, and spelling of numbers
/// and strings.
///
/// A name that an object repeats is read and edited everywhere, since receivers differ in which one counts (RFC 8259 §4).
///
/// Each call reads the text once, in linear time.
public struct JSONText: Sendable {
    public internal(set) var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the values at a pointer in their order; none if there is no such place or the value contains an invalid
    /// character.
    /// - Throws: if the text is not JSON.
    public func values(at pointer: JSONPointer) throws(JSONFault) -> [JSONValue] {
        var walk = JSONWalk(pointer, .find)
        try walk.run(bytes.span)
        var values: [JSONValue] = []
        for range in walk.found {
            if let value = try? JSONValue(parsing: bytes.span.extracting(range)) { values.append(value) }
        }
        return values
    }

    /// Writes a value where the pointer leads. A missing member is added behind the last one, with the same white space.
    /// Missing objects on the way are created; `-` means a new last item of an array.
    /// - Parameters:
    ///   - value: a JSON text.
    ///   - bound: the largest size of the result in bytes.
    /// - Throws: the text is unchanged then.
    public mutating func set(_ pointer: JSONPointer, to value: [UInt8], bound: Int) throws(JSONEditFault) {
        var walk = JSONWalk(pointer, .set(value))
        try walk.runEdit(bytes.span)
        try apply(walk.splices, bound: bound)
    }

    /// Removes the values that the pointer leads to, with name and comma.
    /// - Returns: the number of members or items removed.
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

    /// - Parameter splices: in order and without overlap.
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

/// The reason why an edit of a JSON text failed.
public enum JSONEditFault: Error, Equatable, Sendable {
    /// The text is invalid from this byte on.
    case invalid(offset: Int)
    /// A value on the way is neither object nor array.
    case noContainer
    /// The token is no index of the array, which has `count` items.
    case noItem(count: Int)
    /// The edit would remove the whole text.
    case nothingLeft
    case tooLarge(bound: Int)

    /// The reason, as the end of a sentence that begins "the body …".
    public var explanation: String {
        switch self {
        case .invalid(let offset): "is not JSON from byte \(offset) on"
        case .noContainer: "has no object or array there"
        case .noItem(let count): "has an array of \(count) there; an item is named by its number, or - for a new one"
        case .nothingLeft: "would not be JSON without its whole content"
        case .tooLarge(let bound): "would be larger than \(bound) bytes"
        }
    }
}

/// Walks once through a JSON text and finds a place in it.
struct JSONWalk {
    enum Purpose {
        case find, remove
        case set([UInt8])
    }

    /// A replacement of some bytes.
    struct Splice {
        var range: Range<Int>
        var text: [UInt8]
    }

    private let tokens: [[UInt8]]
    private let purpose: Purpose
    /// The ranges of the values at the pointer.
    private(set) var found: [Range<Int>] = []
    /// The replacements, in order and without overlap.
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
        // outside of strings the grammar is ASCII, so the text is UTF-8 if every string is
        guard text.isUTF8 else { throw JSONFault(offset: 0) }
        var reader = JSONReader()
        // an optional byte order mark (RFC 8259 §8.1)
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { reader.position = 3 }
        reader.skipSpace(text)
        try value(&reader, text, 0)
        reader.skipSpace(text)
        guard reader.position == text.count else { throw JSONFault(offset: reader.position) }
    }

    /// - Parameter level: the number of tokens that have been followed.
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

    /// Removes one member or item.
    private mutating func part(
        _ reader: inout JSONReader, _ text: Span<UInt8>, _ level: Int, isMeant: Bool, _ parts: inout Parts
    ) throws(JSONFault) {
        let start = reader.position
        if isMeant { parts.hasMatch = true }
        if isMeant, level + 1 == tokens.count, case .remove = purpose {
            try reader.skipValue(text, depth: level + 1)
            found.append(start..<reader.position)
            // with the comma before it, if an earlier one stays
            if parts.keepsOne {
                splices.append(Splice(range: parts.separator..<reader.position, text: []))
            } else if parts.leading == nil {
                parts.leading = parts.start
            }
        } else {
            // those removed before the first that stays take the comma behind them
            if let leading = parts.leading { splices.append(Splice(range: leading..<parts.start, text: [])) }
            parts.leading = nil
            parts.keepsOne = true
            if isMeant { try value(&reader, text, level + 1) } else { try reader.skipValue(text, depth: level + 1) }
        }
        parts.end = reader.position
    }

    /// Removes the white space, too, if all members or items were removed.
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

    /// Wraps the value in the objects that are missing around it.
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

    /// Whether a name equals the token, with or without escapes.
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

    /// State of the walk over the members or items of one object or array.
    private struct Parts {
        /// The offset of the opening bracket.
        let open: Int
        /// The offset of the separator before the current or last one.
        var separator = 0
        var start = 0
        var nameEnd = 0
        var valueStart = 0
        var end = 0
        var isEmpty = true
        /// Whether one that stays was passed.
        var keepsOne = false
        /// The start of those to be removed, while none before them stays.
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
