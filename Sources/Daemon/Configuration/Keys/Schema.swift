internal import Declaration
internal import Formats

/// The JSON Schema (draft 2020-12) of the configuration, generated from the key table for completion in editors.
public enum Schema {
    /// Indented JSON with a line break at the end.
    public static var text: String {
        var out = ""
        write(document, indent: 0, to: &out)
        return out + "\n"
    }

    static var document: JSONValue {
        object([
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("Configuration of Usher")),
            ("$ref", .string("#/$defs/root")),
            ("$defs", object(ObjectShape.all.map { ($0.name, definition($0)) } + [("value", value)])),
        ])
    }

    private static func definition(_ name: ObjectShape) -> JSONValue {
        var properties = name.keys.map { key in (key.name, property(key, Unavailable.row(name, key.name))) }
        for key in Unavailable.keys(of: name) where !name.keys.contains(where: { $0.name == key }) {
            guard let row = Unavailable.row(name, key) else { continue }
            properties.append((key, absent(row)))
        }
        var members: [(String, JSONValue)] = [("type", .string("object")), ("properties", object(properties))]
        let required = name.keys.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { members.append(("required", .array(required))) }
        return object(members + [("additionalProperties", .bool(false))])
    }

    private static func property(_ key: Key, _ row: Unavailable.Row?) -> JSONValue {
        var members: [(String, JSONValue)] = [("description", .string(key.doc))]
        if let row, !row.accepted.isEmpty {
            members.append(("enum", .array(row.accepted)))
        } else {
            members += shape(key.shape)
        }
        if let standard = key.standard { members.append(("default", json(standard))) }
        return object(members)
    }

    /// A key that this build lacks: only its neutral values are valid.
    private static func absent(_ row: Unavailable.Row) -> JSONValue {
        let words = ("description", JSONValue.string("Not available in this version: \(row.what)."))
        return object([words, row.accepted.isEmpty ? ("not", .object([])) : ("enum", .array(row.accepted))])
    }

    /// Any single value. YAML numbers and booleans are accepted as text.
    private static let value = object([("type", .array(["string", "number", "boolean"].map { .string($0) }))])

    private static func shape(_ shape: Shape) -> [(String, JSONValue)] {
        switch shape {
        case .text(let format), .template(let format):
            guard let pattern = format.pattern else { return [reference("value")] }
            // a reference to a secret may stand for any value
            return [("type", .string("string")), ("pattern", .string("\(pattern)|\\$\\{"))]
        case .orNull(let shape):
            return [("anyOf", .array([object(self.shape(shape)), object([("type", .string("null"))])]))]
        case .boolean: return [("type", .string("boolean"))]
        case .integer(let range):
            return [("type", .string("integer")), ("minimum", .integer(range.lowerBound)), maximum(range)]
        case .integerOr(let word, let range):
            return [("anyOf", .array([object([("const", .string(word))]), object(self.shape(.integer(range)))]))]
        case .duration: return units(Units.times)
        case .size(_, let orUnlimited):
            let sizes = object(units(Units.sizes))
            return orUnlimited
                ? [("anyOf", .array([object([("const", .string("unlimited"))]), sizes]))] : units(Units.sizes)
        case .choice(let names):
            // YAML may parse an unquoted word as a number
            let numbers = names.compactMap { try? JSONValue(parsing: $0) }
            return [("enum", .array(names.map { .string($0) } + numbers))]
        case .list(let element):
            return [("type", .array([.string("array"), .string("null")])), ("items", object(self.shape(element)))]
        case .oneOrMany(let element):
            return [("anyOf", .array([object(self.shape(element)), object(self.shape(.list(element)))]))]
        case .matcher: return [("anyOf", .array([object([reference("value")]), object(values)]))]
        case .object(let name): return [reference(name.name)]
        case .map(_, let element):
            return [("type", .string("object")), ("additionalProperties", object(self.shape(element)))]
        case .either(let shape, let name):
            return [("anyOf", .array([object(self.shape(shape)), object([reference(name.name)])]))]
        case .secret(.key): return [("type", .string("string"))]
        case .secret(.password): return [("type", .string("string")), ("pattern", .string("^\\$\\{.*\\}$"))]
        case .json: return []
        }
    }

    private static let values = [
        ("type", JSONValue.string("array")), ("items", object([reference("value")])), ("minItems", .integer(1)),
    ]

    private static func units(_ units: [(name: String, factor: Int)]) -> [(String, JSONValue)] {
        let names = units.map(\.name).joined(separator: "|")
        return [("type", .string("string")), ("pattern", .string("^[0-9]+(\(names))$|\\$\\{"))]
    }

    private static func maximum(_ range: ClosedRange<Int>) -> (String, JSONValue) {
        ("maximum", .integer(range.upperBound))
    }

    private static func reference(_ name: String) -> (String, JSONValue) { ("$ref", .string("#/$defs/\(name)")) }

    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { .init($0.0, $0.1) })
    }

    /// Converts a default of the key table from YAML to JSON.
    static func json(_ standard: String) -> JSONValue {
        let findings = Findings(file: "")
        guard let node = YAMLReader.read(standard, findings) else { return .string(standard) }
        return Walker.json(node)
    }

    // MARK: output

    private static func write(_ value: JSONValue, indent: Int, to out: inout String) {
        let space = String(repeating: "  ", count: indent + 1)
        let end = String(repeating: "  ", count: indent)
        switch value {
        case .object(let members) where !members.isEmpty:
            out += "{\n"
            for (index, member) in members.enumerated() {
                out += "\(space)\(JSONValue.string(member.name).serialized): "
                write(member.value, indent: indent + 1, to: &out)
                out += index < members.count - 1 ? ",\n" : "\n"
            }
            out += "\(end)}"
        default: out += value.serialized
        }
    }
}
