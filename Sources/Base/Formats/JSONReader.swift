/// A syntax error in a JSON text, and its byte offset.
public struct JSONFault: Error, Equatable, Sendable {
    public let offset: Int
}

extension JSONValue {
    /// Parses one JSON text (RFC 8259) with at most 64 levels. Only white space may follow.
    public init(parsing bytes: Span<UInt8>) throws(JSONFault) {
        var reader = JSONReader()
        reader.skipSpace(bytes)
        self = try reader.value(bytes, depth: 0)
        reader.skipSpace(bytes)
        guard reader.position == bytes.count else { throw JSONFault(offset: reader.position) }
    }

    public init(parsing bytes: [UInt8]) throws(JSONFault) {
        try self.init(parsing: bytes.span)
    }

    public init(parsing text: String) throws(JSONFault) {
        try self.init(parsing: Array(text.utf8))
    }

    /// Returns the last member with that name of a JSON object; nil if there is none or the text is another value. The rest
    /// is checked and discarded.
    public static func member(_ name: String, of bytes: Span<UInt8>) throws(JSONFault) -> JSONValue? {
        var reader = JSONReader()
        reader.skipSpace(bytes)
        var found: JSONValue?
        if reader.position < bytes.count, bytes[reader.position] == 0x7B {
            try reader.members(bytes) { reader, bytes throws(JSONFault) in
                let isIt = try reader.string(bytes) == name
                try reader.skipColon(bytes)
                if isIt { found = try reader.value(bytes, depth: 1) } else { try reader.skipValue(bytes, depth: 1) }
            }
        } else {
            try reader.skipValue(bytes, depth: 0)
        }
        reader.skipSpace(bytes)
        guard reader.position == bytes.count else { throw JSONFault(offset: reader.position) }
        return found
    }
}

/// Walks through a JSON text value by value. It holds the grammar for all readers, which parse a value or skip it without a
/// copy.
struct JSONReader {
    static let maxDepth = 64
    var position = 0
    /// The offset of the `{`, `[` or comma before the current member or item.
    private(set) var separator = 0

    mutating func skipSpace(_ input: Span<UInt8>) {
        while position < input.count {
            let byte = input[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    mutating func value(_ input: Span<UInt8>, depth: Int) throws(JSONFault) -> JSONValue {
        guard position < input.count, depth < Self.maxDepth else { throw JSONFault(offset: position) }
        switch input[position] {
        case 0x7B:
            var members: [JSONValue.Member] = []
            try self.members(input) { reader, input throws(JSONFault) in
                let name = try reader.string(input)
                try reader.skipColon(input)
                members.append(.init(name, try reader.value(input, depth: depth + 1)))
            }
            return .object(members)
        case 0x5B:
            var items: [JSONValue] = []
            try self.items(input) { reader, input throws(JSONFault) in
                items.append(try reader.value(input, depth: depth + 1))
            }
            return .array(items)
        case 0x22: return .string(try string(input))
        case 0x74:
            try skip(input, "true")
            return .bool(true)
        case 0x66:
            try skip(input, "false")
            return .bool(false)
        case 0x6E:
            try skip(input, "null")
            return .null
        default:
            let number = try skipNumber(input)
            let text = input.extracting(number.range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            return .number(number.isCapital ? ASCII.lowercased(text) : text)
        }
    }

    /// Skips one value. A string in it may contain half a surrogate pair; RFC 8259 §8.2 leaves that to the reader.
    mutating func skipValue(_ input: Span<UInt8>, depth: Int) throws(JSONFault) {
        guard position < input.count, depth < Self.maxDepth else { throw JSONFault(offset: position) }
        switch input[position] {
        case 0x7B:
            try members(input) { reader, input throws(JSONFault) in
                _ = try reader.skipString(input)
                try reader.skipColon(input)
                try reader.skipValue(input, depth: depth + 1)
            }
        case 0x5B:
            try items(input) { reader, input throws(JSONFault) in try reader.skipValue(input, depth: depth + 1) }
        case 0x22: _ = try skipString(input)
        case 0x74: try skip(input, "true")
        case 0x66: try skip(input, "false")
        case 0x6E: try skip(input, "null")
        default: _ = try skipNumber(input)
        }
    }

    // MARK: objects and arrays

    /// Visits the members of an object. The closure consumes name, colon and value.
    @inline(__always)
    mutating func members(
        _ input: Span<UInt8>, _ visit: (inout JSONReader, Span<UInt8>) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try parts(input, end: 0x7D) { reader, input throws(JSONFault) in
            guard reader.position < input.count, input[reader.position] == 0x22 else {
                throw JSONFault(offset: reader.position)
            }
            try visit(&reader, input)
        }
    }

    /// Visits the items of an array.
    @inline(__always)
    mutating func items(
        _ input: Span<UInt8>, _ visit: (inout JSONReader, Span<UInt8>) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try parts(input, end: 0x5D, visit)
    }

    @inline(__always)
    private mutating func parts(
        _ input: Span<UInt8>, end: UInt8, _ visit: (inout JSONReader, Span<UInt8>) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        separator = position
        position += 1
        skipSpace(input)
        if position < input.count, input[position] == end {
            position += 1
            return
        }
        while true {
            skipSpace(input)
            try visit(&self, input)
            skipSpace(input)
            guard position < input.count else { throw JSONFault(offset: position) }
            separator = position
            position += 1
            if input[separator] == end { return }
            guard input[separator] == 0x2C else { throw JSONFault(offset: separator) }
        }
    }

    /// Skips the colon behind a name and the white space around it.
    mutating func skipColon(_ input: Span<UInt8>) throws(JSONFault) {
        skipSpace(input)
        guard position < input.count, input[position] == ASCII.colon else { throw JSONFault(offset: position) }
        position += 1
        skipSpace(input)
    }

    // MARK: words and numbers

    private mutating func skip(_ input: Span<UInt8>, _ word: StaticString) throws(JSONFault) {
        for index in 0..<word.utf8CodeUnitCount {
            guard position < input.count, input[position] == word.utf8Start[index] else {
                throw JSONFault(offset: position)
            }
            position += 1
        }
    }

    private mutating func skipNumber(_ input: Span<UInt8>) throws(JSONFault) -> (range: Range<Int>, isCapital: Bool) {
        let start = position
        consume(0x2D, input)
        let leadingZero = position < input.count && input[position] == 0x30
        let whole = takeDigits(input)
        guard whole > 0, !(leadingZero && whole > 1) else { throw JSONFault(offset: start) }
        if consume(0x2E, input), takeDigits(input) == 0 { throw JSONFault(offset: position) }
        let isCapital = position < input.count && input[position] == 0x45
        if isCapital || position < input.count && input[position] == 0x65 {
            position += 1
            if !consume(0x2B, input) { consume(0x2D, input) }
            guard takeDigits(input) > 0 else { throw JSONFault(offset: position) }
        }
        return (start..<position, isCapital)
    }

    @discardableResult
    private mutating func consume(_ byte: UInt8, _ input: Span<UInt8>) -> Bool {
        guard position < input.count, input[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func takeDigits(_ input: Span<UInt8>) -> Int {
        let start = position
        while position < input.count, ASCII.isDigit(input[position]) { position += 1 }
        return position - start
    }

    // MARK: strings

    /// The range between the quotes of a string, with its escapes.
    struct StringContent {
        let range: Range<Int>
        let isEscaped: Bool
    }

    fileprivate mutating func string(_ input: Span<UInt8>) throws(JSONFault) -> String {
        let content = try skipString(input)
        if !content.isEscaped {
            guard let text = try? UTF8Span(validating: input.extracting(content.range)) else {
                throw JSONFault(offset: position)
            }
            return String(copying: text)
        }
        let bytes = try unescaped(input, content)
        guard let text = String(validating: bytes, as: UTF8.self) else { throw JSONFault(offset: position) }
        return text
    }

    /// - Returns: the content between the quotes; UTF-8 is not checked.
    mutating func skipString(_ input: Span<UInt8>) throws(JSONFault) -> StringContent {
        position += 1
        let start = position
        var isEscaped = false
        while true {
            position = input.near(position, input.count) { $0.controls | $0.equal(to: 0x22) | $0.equal(to: 0x5C) }
            guard position < input.count else { throw JSONFault(offset: position) }
            switch input[position] {
            case 0x22:
                position += 1
                return StringContent(range: start..<position - 1, isEscaped: isEscaped)
            case 0x5C:
                isEscaped = true
                position += 1
                try skipEscape(input)
            // JSON allows DEL unescaped
            case 0x7F: position += 1
            default: throw JSONFault(offset: position)
            }
        }
    }

    private mutating func skipEscape(_ input: Span<UInt8>) throws(JSONFault) {
        guard position < input.count else { throw JSONFault(offset: position) }
        let byte = input[position]
        position += 1
        if byte == 0x75 {
            _ = try hex4(input)
        } else if Self.escaped(byte) == nil {
            throw JSONFault(offset: position - 1)
        }
    }

    /// The bytes of a string without its escapes.
    /// - Throws: if half a surrogate pair is in it, which is no character.
    func unescaped(_ input: Span<UInt8>, _ content: StringContent) throws(JSONFault) -> [UInt8] {
        var bytes: [UInt8] = []
        guard content.isEscaped else {
            bytes.append(input.extracting(content.range))
            return bytes
        }
        var reader = self
        reader.position = content.range.lowerBound
        while reader.position < content.range.upperBound {
            let byte = input[reader.position]
            reader.position += 1
            if byte == 0x5C { try reader.unescape(input, into: &bytes) } else { bytes.append(byte) }
        }
        return bytes
    }

    private mutating func unescape(_ input: Span<UInt8>, into bytes: inout [UInt8]) throws(JSONFault) {
        let byte = input[position]
        position += 1
        if let plain = Self.escaped(byte) { return bytes.append(plain) }
        var unit = try hex4(input)
        if unit & 0xFC00 == 0xD800 {
            // a surrogate pair is one character; half a pair is an error
            guard position + 1 < input.count, input[position] == 0x5C, input[position + 1] == 0x75 else {
                throw JSONFault(offset: position)
            }
            position += 2
            let low = try hex4(input)
            guard low & 0xFC00 == 0xDC00 else { throw JSONFault(offset: position) }
            unit = 0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF)
        }
        guard let scalar = Unicode.Scalar(unit) else { throw JSONFault(offset: position) }
        bytes.append(contentsOf: String(Character(scalar)).utf8)
    }

    /// The character that an escape letter stands for; nil for `u` and for unknown letters.
    private static func escaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x22, 0x5C, 0x2F: byte
        case 0x62: 0x08
        case 0x66: 0x0C
        case 0x6E: 0x0A
        case 0x72: 0x0D
        case 0x74: 0x09
        default: nil
        }
    }

    private mutating func hex4(_ input: Span<UInt8>) throws(JSONFault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < input.count, let digit = ASCII.hexValue(input[position]) else {
                throw JSONFault(offset: position)
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
