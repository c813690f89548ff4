internal import Declaration

/// A YAML document as a tree of values, independent of the parser. Aliases are resolved; keys are strings and unique.
struct YAMLNode: Sendable {
    enum Content: Sendable {
        /// `isPlain`: written without quotes, so that `true`, `5` or nothing may be more than text.
        case scalar(String, isPlain: Bool)
        case list([YAMLNode])
        case map([Entry])
    }

    struct Entry: Sendable {
        var key: String
        var position: Position
        var value: YAMLNode
    }

    var position: Position
    var content: Content

    /// YAML's null: nothing, `~` or `null`.
    var isNull: Bool {
        if case .scalar(let text, isPlain: true) = content {
            ["", "~", "null", "Null", "NULL"].contains(text)
        } else {
            false
        }
    }

    subscript(_ key: String) -> YAMLNode? {
        guard case .map(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// The kind of value, for messages.
    var kind: String {
        switch content {
        case .scalar: isNull ? "nothing" : "a single value"
        case .list: "a list"
        case .map: "keys with values"
        }
    }
}
