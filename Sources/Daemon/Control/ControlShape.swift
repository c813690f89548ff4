public import Formats

/// The shape of a JSON value in the description (JSON Schema, draft 2020-12).
public indirect enum ControlShape: Sendable {
    case text
    /// A string that matches this pattern (ECMA-262).
    case pattern(String)
    case choice([String])
    case integer(ClosedRange<Int>)
    case number
    case flag
    case null
    case any
    case list(ControlShape)
    /// An object with these members only. A name with a question mark is optional.
    case object(KeyValuePairs<String, ControlShape>)
    /// An object with any names and values of one shape.
    case map(ControlShape)
    case either([ControlShape])
    case described(String, ControlShape)

    /// An integer from 0.
    public static let count = ControlShape.integer(0...Int.max)

    /// The shape or `null`.
    public static func optional(_ shape: ControlShape) -> ControlShape { .either([shape, .null]) }

    public var schema: JSONValue {
        switch self {
        case .text: Self.typed("string")
        case .pattern(let pattern): Self.typed("string", .init("pattern", .string(pattern)))
        case .choice(let words): Self.typed("string", .init("enum", .strings(words)))
        case .integer(let range): Self.whole(range)
        case .number: Self.typed("number")
        case .flag: Self.typed("boolean")
        case .null: Self.typed("null")
        case .any: .object([])
        case .list(let shape): Self.typed("array", .init("items", shape.schema))
        case .object(let members): Self.structure(members)
        case .map(let shape): Self.typed("object", .init("additionalProperties", shape.schema))
        case .either(let shapes): ["anyOf": .array(shapes.map(\.schema))]
        case .described(let words, let shape): shape.schema.with("description", .string(words))
        }
    }

    private static func typed(_ type: String, _ members: JSONValue.Member...) -> JSONValue {
        .object([.init("type", .string(type))] + members)
    }

    private static func whole(_ range: ClosedRange<Int>) -> JSONValue {
        var schema = typed("integer")
        if range.lowerBound != .min { schema = schema.with("minimum", .integer(range.lowerBound)) }
        if range.upperBound != .max { schema = schema.with("maximum", .integer(range.upperBound)) }
        return schema
    }

    private static func structure(_ members: KeyValuePairs<String, ControlShape>) -> JSONValue {
        var properties: [JSONValue.Member] = []
        var required: [JSONValue] = []
        for (name, shape) in members {
            let isOptional = name.hasSuffix("?")
            let plain = isOptional ? String(name.dropLast()) : name
            properties.append(.init(plain, shape.schema))
            if !isOptional { required.append(.string(plain)) }
        }
        return typed(
            "object", .init("properties", .object(properties)), .init("required", .array(required)),
            .init("additionalProperties", .bool(false)))
    }
}

extension JSONValue {
    /// The object with another member.
    func with(_ name: String, _ value: JSONValue) -> JSONValue {
        var changed = self
        changed[name] = value
        return changed
    }
}
