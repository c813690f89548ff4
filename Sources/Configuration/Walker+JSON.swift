internal import Declaration
internal import Formats
internal import HTTPCodec

/// YAML values as JSON: plain scalars are read by YAML's core schema, quoted ones are text.
extension Walker {
    /// - Parameter resolving: fills in references to secrets; a value that holds one is text.
    func json(_ node: YAMLNode, resolving: Bool) -> JSONValue {
        Self.json(node) { text, position in resolving ? secrets.resolve(text, at: position) ?? "" : text }
    }

    /// - Parameter fill: makes the text of a quoted or unquoted string.
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
            // JSON's own reader knows which texts are its numbers
            guard let value = try? JSONValue(parsing: text), case .number = value else { return nil }
            return value
        }
    }
}
