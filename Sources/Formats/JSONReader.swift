/// Why a text is no JSON, and at which byte.
public struct JSONFault: Error, Equatable, Sendable {
    public let offset: Int
}

extension JSONValue {
    /// Reads one JSON text (RFC 8259), nothing after it but white space, at most 64 levels deep.
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
}

private struct JSONReader {
    static let maxDepth = 64
    var position = 0

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
        case 0x7B: return try object(input, depth)
        case 0x5B: return try array(input, depth)
        case 0x22: return .string(try string(input))
        case 0x74: return try word(input, "true", .bool(true))
        case 0x66: return try word(input, "false", .bool(false))
        case 0x6E: return try word(input, "null", .null)
        default: return try number(input)
        }
    }

    private mutating func word(
        _ input: Span<UInt8>, _ text: StaticString, _ value: JSONValue
    ) throws(JSONFault) -> JSONValue {
        for index in 0..<text.utf8CodeUnitCount {
            guard position < input.count, input[position] == text.utf8Start[index] else {
                throw JSONFault(offset: position)
            }
            position += 1
        }
        return value
    }

    private mutating func number(_ input: Span<UInt8>) throws(JSONFault) -> JSONValue {
        let start = position
        take(0x2D, input)
        let leadingZero = position < input.count && input[position] == 0x30
        let whole = takeDigits(input)
        guard whole > 0, !(leadingZero && whole > 1) else { throw JSONFault(offset: start) }
        if take(0x2E, input), takeDigits(input) == 0 { throw JSONFault(offset: position) }
        let isCapital = position < input.count && input[position] == 0x45
        if isCapital || position < input.count && input[position] == 0x65 {
            position += 1
            if !take(0x2B, input) { take(0x2D, input) }
            guard takeDigits(input) > 0 else { throw JSONFault(offset: position) }
        }
        let text = input.extracting(start..<position)
        let number = text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        return .number(isCapital ? ASCII.lowercased(number) : number)
    }

    @discardableResult
    private mutating func take(_ byte: UInt8, _ input: Span<UInt8>) -> Bool {
        guard position < input.count, input[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func takeDigits(_ input: Span<UInt8>) -> Int {
        let start = position
        while position < input.count, ASCII.isDigit(input[position]) { position += 1 }
        return position - start
    }

    private mutating func string(_ input: Span<UInt8>) throws(JSONFault) -> String {
        position += 1
        var bytes: [UInt8] = []
        while position < input.count {
            let byte = input[position]
            switch byte {
            case 0x22:
                position += 1
                guard let text = String(validating: bytes, as: UTF8.self) else { throw JSONFault(offset: position) }
                return text
            case 0x5C:
                position += 1
                try escape(input, into: &bytes)
            case 0..<0x20: throw JSONFault(offset: position)
            default:
                bytes.append(byte)
                position += 1
            }
        }
        throw JSONFault(offset: position)
    }

    private mutating func escape(_ input: Span<UInt8>, into bytes: inout [UInt8]) throws(JSONFault) {
        guard position < input.count else { throw JSONFault(offset: position) }
        let byte = input[position]
        position += 1
        switch byte {
        case 0x22, 0x5C, 0x2F: bytes.append(byte)
        case 0x62: bytes.append(0x08)
        case 0x66: bytes.append(0x0C)
        case 0x6E: bytes.append(0x0A)
        case 0x72: bytes.append(0x0D)
        case 0x74: bytes.append(0x09)
        case 0x75:
            var unit = try hex4(input)
            if unit & 0xFC00 == 0xD800 {
                // a pair of surrogates is one character; half a pair is none
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
        default: throw JSONFault(offset: position - 1)
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

    private mutating func array(_ input: Span<UInt8>, _ depth: Int) throws(JSONFault) -> JSONValue {
        position += 1
        var items: [JSONValue] = []
        skipSpace(input)
        if position < input.count, input[position] == 0x5D {
            position += 1
            return .array(items)
        }
        while true {
            skipSpace(input)
            items.append(try value(input, depth: depth + 1))
            skipSpace(input)
            guard position < input.count else { throw JSONFault(offset: position) }
            position += 1
            if input[position - 1] == 0x5D { return .array(items) }
            guard input[position - 1] == 0x2C else { throw JSONFault(offset: position - 1) }
        }
    }

    private mutating func object(_ input: Span<UInt8>, _ depth: Int) throws(JSONFault) -> JSONValue {
        position += 1
        var members: [JSONValue.Member] = []
        skipSpace(input)
        if position < input.count, input[position] == 0x7D {
            position += 1
            return .object(members)
        }
        while true {
            skipSpace(input)
            guard position < input.count, input[position] == 0x22 else { throw JSONFault(offset: position) }
            let name = try string(input)
            skipSpace(input)
            guard position < input.count, input[position] == ASCII.colon else { throw JSONFault(offset: position) }
            position += 1
            skipSpace(input)
            members.append(.init(name, try value(input, depth: depth + 1)))
            skipSpace(input)
            guard position < input.count else { throw JSONFault(offset: position) }
            position += 1
            if input[position - 1] == 0x7D { return .object(members) }
            guard input[position - 1] == 0x2C else { throw JSONFault(offset: position - 1) }
        }
    }
}
