internal import Declaration
public import Formats
internal import Interception

/// An interceptor written in one line of a command: a condition, such as `action=AUTHENTICATE by=app`, and an edit, such as
/// `respond 429`.
public struct RuleWords {
    public struct Fault: Error {
        public let description: String
    }

    /// The members of an entry of `interceptors`.
    public private(set) var rule: JSONValue = .object([])

    /// - Parameter condition: terms `key=value` or `key!=value`; several values are separated by commas.
    public init(condition: String, edit: String) throws(Fault) {
        let when: JSONValue
        do throws(ConditionLine.Fault) { when = Walker.json(try ConditionLine.condition(condition)) } catch {
            throw Fault(description: error.words)
        }
        if when.members?.isEmpty == false { rule["when"] = when }
        if let fault = Self.namedFault(edit) {
            rule["fault"] = .string(fault)
            return
        }
        let (phase, written) = try Self.edit(edit, needsResponse: Self.needsResponse(when))
        rule[phase] = [written]
    }

    private static func needsResponse(_ when: JSONValue) -> Bool {
        ["status", "content_type", "response_json"].contains { when[$0] != nil }
    }

    // MARK: the edit

    /// The name in `fault am-session-expired`; nil for the edit `fault`, as in `fault reset`.
    private static func namedFault(_ edit: String) -> String? {
        let words = edit.split(separator: " ")
        guard words.count == 2, words[0] == "fault", Breakage(rawValue: String(words[1])) == nil,
            words[1].utf8.allSatisfy({ ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == 0x2D })
        else { return nil }
        return String(words[1])
    }

    /// - Returns: the list that the edit belongs to, and the edit as its entry.
    private static func edit(_ text: String, needsResponse: Bool) throws(Fault) -> (phase: String, JSONValue) {
        let name = String(text.prefix { $0 != " " })
        let rest = String(text.dropFirst(name.count).drop { $0 == " " })
        let (requests, responses) = (EditCatalogue.request.map { $0.name }, EditCatalogue.response.map { $0.name })
        guard requests.contains(name) || responses.contains(name) else {
            let nearest = Nearest.name(to: name, among: requests + responses).map { "; did you mean \($0)?" } ?? ""
            throw Fault(
                description: "\"\(name)\" is no edit\(nearest); write an edit and its value, as in respond 429 "
                    + "(usher check --print-edits lists all)")
        }
        let phase = needsResponse && responses.contains(name) || !requests.contains(name) ? "response" : "request"
        var entry: JSONValue = .object([])
        entry[name] = name == Respond.name ? response(rest) : try value(rest)
        return (phase, entry)
    }

    /// `respond 429` and `respond 429 some text` are short forms.
    private static func response(_ text: String) -> JSONValue {
        let status = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(status) else { return (try? value(text)) ?? .string(text) }
        let body = text.dropFirst(status.count).drop { $0 == " " }
        var answer: JSONValue = ["status": .integer(number)]
        if body.hasPrefix("{") || body.hasPrefix("["), let json = try? JSONValue(parsing: String(body)) {
            answer["json"] = json
        } else if !body.isEmpty {
            answer["text"] = .string(String(body))
        }
        return answer
    }

    /// A value in YAML, such as `800ms` or `{ X-Name: value }`.
    private static func value(_ text: String) throws(Fault) -> JSONValue {
        let findings = Findings(file: "")
        guard let node = YAMLReader.read(text, findings) else {
            throw Fault(description: "the edit has no value, or it is not YAML: \(text)")
        }
        return Walker.json(node)
    }
}
