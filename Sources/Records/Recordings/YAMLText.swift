internal import Formats

/// Writes JSON values as YAML for people.
enum YAMLText {
    static func document(_ value: JSONValue) -> [UInt8] {
        var out = ""
        write(value, 0, isInList: false, &out)
        return Array(out.utf8)
    }

    private static func write(_ value: JSONValue, _ depth: Int, isInList: Bool, _ out: inout String) {
        let indent = String(repeating: "  ", count: depth)
        switch value {
        case .object(let members) where !members.isEmpty:
            for (index, member) in members.enumerated() {
                out += index == 0 && isInList ? "" : indent
                out += "\(scalar(member.name)):"
                nest(member.value, depth + 1, isInList: false, &out)
            }
        case .array(let items) where !items.isEmpty:
            for item in items {
                out += "\(indent)-"
                nest(item, depth + 1, isInList: true, &out)
            }
        default: out += "\(scalar(value))\n"
        }
    }

    /// Writes a value behind a name or the dash of a list.
    private static func nest(_ value: JSONValue, _ depth: Int, isInList: Bool, _ out: inout String) {
        switch value {
        case .object(let members) where !members.isEmpty && isInList:
            out += " "
            write(value, depth, isInList: true, &out)
        case .object([]), .array([]), .null, .bool, .number, .string: out += " \(scalar(value))\n"
        case .object, .array:
            out += "\n"
            write(value, depth, isInList: false, &out)
        }
    }

    private static func scalar(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): scalar(text)
        case .object: "{}"
        case .array: "[]"
        default: value.written
        }
    }

    /// A text without quotes if it can be read only as this text.
    private static func scalar(_ text: String) -> String {
        let words: Set = ["true", "false", "null", "yes", "no", "on", "off"]
        let isPlain =
            text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains(": ") && !text.contains(" #")
        if let first = text.utf8.first, let last = text.utf8.last,
            ASCII.isAlpha(first) || first == 0x2F || first == 0x5F,
            isPlain, last != 0x20, last != 0x3A, !text.contains("${"), !words.contains(ASCII.lowercased(text))
        {
            return text
        }
        var bytes: [UInt8] = []
        // a "${" would be a reference to a variable
        JSONValue.writeString(text.replacing("${", with: "$${"), to: &bytes)
        // YAML reads these as line breaks
        return ["\u{85}", "\u{2028}", "\u{2029}"].reduce(String(decoding: bytes, as: UTF8.self)) { text, mark in
            text.replacing(
                mark, with: "\\u" + String(0x10000 + (mark.unicodeScalars.first?.value ?? 0), radix: 16).dropFirst())
        }
    }
}
