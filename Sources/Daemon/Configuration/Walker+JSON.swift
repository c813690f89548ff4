internal import Declaration
internal import Formats

/// Converts YAML values to JSON. Plain scalars follow YAML's core schema; quoted scalars are strings.
extension Walker {
    /// - Parameter resolving: true to substitute references to secrets. A value with a reference is a string.
    func json(_ node: YAMLNode, resolving: Bool) -> JSONValue {
        Self.json(node) { text, position in resolving ? secrets.resolve(text, at: position) ?? "" : text }
    }

    /// - Parameter fill: substitutes references in a string.
    static func json(_ node: YAMLNode, fill: (String, Position) -> String = { text, _ in text }) -> JSONValue {
        switch node.content {
        case .list(let items): return .array(items.map { json($0, fill: fill) })
        case .map(let entries): return .object(entries.map { .init($0.key, json($0.value, fill: fill)) })
        case .scalar(let text, let isPlain):
            if isPlain, let value = plain(text, node) { return value }
            return .string(fill(text, node.position))
        }
    }

    static func plain(_ text: String, _ node: YAMLNode) -> JSONValue? {
        if node.isNull { return .null }
        switch text {
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default:
            guard let first = text.utf8.first, ASCII.isDigit(first) || first == 0x2D else { return nil }
            // JSON's parser decides which texts are numbers
            guard let value = try? JSONValue(parsing: text), case .number = value else { return nil }
            return value
        }
    }
}
