/// A JSON text as a value (RFC 8259). It keeps the order of members, repeated names and the spelling of numbers, so that a
/// document written again means the same to every reader.
public enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The number as it was written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    public struct Member: Equatable, Sendable {
        public var name: String
        public var value: JSONValue

        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    public static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }
    public static func strings(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map { .string($0) }) }
    /// The text, or null.
    public static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    /// The number, or null.
    public static func optional(_ number: Int?) -> JSONValue { number.map { .integer($0) } ?? .null }

    /// Returns the member with that name. If the name is repeated, the last one counts, as servers read it.
    public subscript(_ name: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.last { $0.name == name }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            if let index = members.lastIndex(where: { $0.name == name }) {
                if let newValue { members[index].value = newValue } else { members.remove(at: index) }
            } else if let newValue {
                members.append(Member(name, newValue))
            }
            self = .object(members)
        }
    }

    public subscript(_ index: Int) -> JSONValue? {
        guard case .array(let items) = self, items.indices.contains(index) else { return nil }
        return items[index]
    }

    public var text: String? { if case .string(let text) = self { text } else { nil } }
    public var items: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    public var members: [Member]? { if case .object(let members) = self { members } else { nil } }
    public var isTrue: Bool { self == .bool(true) }
    public var integer: Int? { if case .number(let text) = self { Int(text) } else { nil } }
}

// MARK: literals

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringInterpolation,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(members.map { Member($0, $1) })
    }

    public init(arrayLiteral items: JSONValue...) { self = .array(items) }
    public init(stringLiteral text: String) { self = .string(text) }
    public init(integerLiteral number: Int) { self = .integer(number) }
    public init(booleanLiteral flag: Bool) { self = .bool(flag) }
}

// MARK: writing

extension JSONValue {
    /// The JSON text without white space.
    public var serialized: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    public var written: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    public func write(to out: inout [UInt8]) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): out.append(contentsOf: text.utf8)
        case .string(let text): Self.writeString(text, to: &out)
        case .array(let items):
            out.append(0x5B)
            for (index, item) in items.enumerated() {
                if index > 0 { out.append(0x2C) }
                item.write(to: &out)
            }
            out.append(0x5D)
        case .object(let members):
            out.append(0x7B)
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(0x2C) }
                Self.writeString(member.name, to: &out)
                out.append(0x3A)
                member.value.write(to: &out)
            }
            out.append(0x7D)
        }
    }

    /// Writes a text between quotes, escaped as RFC 8259 §7 demands.
    public static func writeString(_ text: some StringProtocol, to out: inout [UInt8]) {
        out.append(0x22)
        writeEscaped(text, to: &out)
        out.append(0x22)
    }

    /// Writes an escaped text without quotes.
    public static func writeEscaped(_ text: some StringProtocol, to out: inout [UInt8]) {
        // most texts are contiguous in memory
        if text.utf8.withContiguousStorageIfAvailable({ writeEscaped($0.span, to: &out) }) == nil {
            for byte in text.utf8 { writeEscaped(byte, to: &out) }
        }
    }

    /// Writes the escaped UTF-8 of a string. Bytes from 0x80 on are copied.
    public static func writeEscaped(_ bytes: Span<UInt8>, to out: inout [UInt8]) {
        var start = 0
        while start < bytes.count {
            let end = bytes.first(start, bytes.count) { $0.outsideJSONText }
            out.append(bytes.extracting(start..<end))
            if end < bytes.count { writeEscaped(bytes[end], to: &out) }
            start = end + 1
        }
    }

    private static func writeEscaped(_ byte: UInt8, to out: inout [UInt8]) {
        switch byte {
        case 0x22, 0x5C:
            out.append(0x5C)
            out.append(byte)
        case 0x0A: out.append(contentsOf: [0x5C, 0x6E])
        case 0x0D: out.append(contentsOf: [0x5C, 0x72])
        case 0x09: out.append(contentsOf: [0x5C, 0x74])
        case 0..<0x20, 0x7F:
            out.append(contentsOf: "\\u00".utf8)
            out.append(PercentCoding.hexDigit(byte >> 4))
            out.append(PercentCoding.hexDigit(byte & 15))
        default: out.append(byte)
        }
    }
}
