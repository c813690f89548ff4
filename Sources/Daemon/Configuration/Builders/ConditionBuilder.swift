internal import Addresses
internal import Declaration
internal import Formats
internal import Interception

/// Builds a `Condition` from `when`.
struct ConditionBuilder {
    var reader: RuleReader
    /// The names of the configuration's own Actions.
    let defined: [String]
    /// True if further Actions have names that are unknown here.
    let definesOthers: Bool

    private var findings: Findings { reader.findings }

    func condition(_ fields: Fields?) -> Condition {
        guard let fields else { return .always }
        var parts: [Condition] = []
        for field in fields.all {
            switch field.name {
            case "any":
                if field.value.isEmptyList {
                    findings.error(field.position, "\"any\" without an entry never matches; remove the key")
                }
                parts.append(.any(field.value.list.map { condition(entry: $0) }))
            case "not": parts.append(.not(condition(field.value.fields)))
            case "header": parts += tests(field, Condition.Key.header)
            case "query": parts += tests(field, Condition.Key.query)
            case "cookie": parts += tests(field, Condition.Key.cookie)
            case "form": parts += tests(field, Condition.Key.form)
            case "json": parts += tests(field) { JSONPointer($0).map(Condition.Key.json) }
            case "response_header": parts += tests(field, Condition.Key.responseHeader)
            case "response_json": parts += tests(field) { JSONPointer($0).map(Condition.Key.responseJSON) }
            default:
                guard let key = Self.keys[field.name] else {
                    findings.error(field.position, "\"\(field.name)\" is not a condition")
                    continue
                }
                let kind = Self.kind(field.name)
                parts.append(.test(key, field.value.list.compactMap { matcher($0, kind, field.name) }))
            }
        }
        return parts.count == 1 ? parts[0] : parts.isEmpty ? .always : .all(parts)
    }

    private static let keys: [String: Condition.Key] = [
        "action": .action, "tree": .tree, "type": .type, "realm": .realm, "platform": .platform, "scheme": .scheme,
        "host": .host, "port": .port, "by": .by, "path": .path, "method": .method, "status": .status,
        "content_type": .contentType, "error": .error,
    ]

    /// The syntax of a key's values.
    private static func kind(_ name: String) -> MatchKind {
        if case .matcher(let kind)? = KeyTable.condition.keys.first(where: { $0.name == name })?.shape {
            kind
        } else {
            .text
        }
    }

    /// Refuses an entry without terms, which would always hold. It is left when all terms are commented out.
    private func condition(entry: Decoded) -> Condition {
        if entry.fields?.written.isEmpty == true {
            findings.error(
                entry.position,
                "an entry of \"any\" without a condition always matches; add a condition, or remove the entry")
        }
        return condition(entry.fields)
    }

    private func tests(_ field: Fields.Field, _ key: (String) -> Condition.Key?) -> [Condition] {
        if field.value.fields?.written.isEmpty == true {
            findings.error(
                field.position, "\"\(field.name)\" has no name to test; write { NAME: value } or remove it")
        }
        return (field.value.fields?.all ?? []).compactMap { field in
            key(field.name).map { .test($0, field.value.list.compactMap { matcher($0, .text, field.name) }) }
        }
    }

    // MARK: values

    private func matcher(_ value: Decoded, _ kind: MatchKind, _ key: String) -> TextMatcher? {
        let matcher = matcher(asWritten: value, kind, key)
        return kind == .path ? matcher?.onPaths : matcher
    }

    private func matcher(asWritten value: Decoded, _ kind: MatchKind, _ key: String) -> TextMatcher? {
        guard var text = value.text else { return nil }
        if text.hasPrefix("~") {
            return reader.pattern(text, value.position, value.written, "when \(key)").map { .pattern($0) }
        }
        if kind == .host {
            do throws(InternationalName.Fault) {
                text = HostName.normalized(try InternationalName.ascii(host: text))
            } catch {
                findings.error(value.position, "\(key): the host \(error.words), found \"\(value.written)\"")
                return nil
            }
        }
        if Glob.isGlob(text) {
            if kind == .action { check(glob: text, value) }
            if kind == .error, !Self.errors.contains(where: { Glob.matches(text, $0) }) {
                unknown(error: text, value)
            }
            return .glob(text)
        }
        switch kind {
        case .status: return status(text, value)
        case .action: return action(text, value).map { .exact($0) }
        case .error where !Self.errors.contains(text):
            unknown(error: text, value)
            return nil
        default:
            if let fault = fault(text, kind) {
                findings.error(
                    value.position, "\(key) \(fault.message), found \"\(value.written)\"", nearest: fault.nearest)
                return nil
            }
            return .exact(text)
        }
    }

    /// Warns of a glob that only matches aliases of Actions, because values are compared by canonical names.
    private func check(glob: String, _ value: Decoded) {
        let names = Action.known.map(\.rawValue) + defined
        guard !definesOthers, !names.contains(where: { Glob.matches(glob, $0) }) else { return }
        let meant = Action.aliases.filter { Glob.matches(glob, $0.key) }.map(\.value.rawValue).sorted()
        let remedy = meant.isEmpty ? "" : "; for its aliases write \(meant.joined(separator: ", "))"
        findings.error(value.position, "\"\(value.written)\" matches no Action\(remedy)")
    }

    private func action(_ text: String, _ value: Decoded) -> String? {
        let action = Action(named: text)
        if definesOthers || Action.known.contains(action) || defined.contains(text) { return action.rawValue }
        let known = Action.known.map(\.rawValue) + Action.aliases.keys.sorted() + defined
        findings.error(
            value.position, "unknown Action \"\(value.written)\"; define custom Actions under actions",
            nearest: Nearest.name(to: text, among: known))
        return nil
    }

    private static let errors = OriginFault.Kind.allCases.map(\.rawValue)

    private func unknown(error: String, _ value: Decoded) {
        findings.error(
            value.position,
            "error takes \(Self.errors.dropLast().joined(separator: ", ")) or \(Self.errors.last ?? ""), found \"\(value.written)\"",
            nearest: Nearest.name(to: error, among: Self.errors))
    }

    private func status(_ text: String, _ value: Decoded) -> TextMatcher? {
        if let matcher = TextMatcher(status: text) { return matcher }
        findings.error(value.position, "status takes a status such as 401, 5xx or 400-499, found \"\(value.written)\"")
        return nil
    }

    /// The reason why an exact value can never match.
    private func fault(_ text: String, _ kind: MatchKind) -> (message: String, nearest: String?)? {
        switch kind {
        case .realm:
            if TextFormat.realm.accepts(text) { return nil }
            let nearest = TextFormat.realm.accepts("/\(text)") ? "/\(text)" : nil
            return ("takes \(TextFormat.realm.expected)", nearest)
        case .scheme:
            if ["http", "https"].contains(ASCII.lowercased(text)) { return nil }
            return ("takes http or https", Nearest.name(to: text, among: ["http", "https"]))
        case .host:
            let hasMore = text.utf8.contains { $0 == 0x2F || $0 == 0x40 } || text.isEmpty
            let hasPort = text.utf8.count { $0 == ASCII.colon } == 1 || text.hasPrefix("[")
            return hasMore || hasPort
                ? ("takes a host without scheme, brackets and port (use the key port)", nil) : nil
        case .port:
            return Int(text).map { (1...65535).contains($0) } == true ? nil : ("takes a number from 1 to 65535", nil)
        case .path:
            if !text.hasPrefix("/") { return ("begins with /", "/\(text)") }
            return text.utf8.contains(0x3F) ? ("has no query (use the key query)", nil) : nil
        case .method:
            if TextFormat.method.accepts(text) || text == "CONNECT" { return nil }
            let capitals = String(decoding: text.utf8.map { ASCII.isAlpha($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
            return ("takes \(TextFormat.method.expected)", TextFormat.method.accepts(capitals) ? capitals : nil)
        case .contentType:
            let isType = text.utf8.contains(0x2F) && !text.utf8.contains { $0 == 0x3B || $0 == ASCII.space }
            return isType ? nil : ("takes a content type without parameters, such as application/json", nil)
        case .by:
            let senders = ["app", "usher"]
            return senders.contains(text) ? nil : ("takes app or usher", Nearest.name(to: text, among: senders))
        case .text, .action, .status, .error: return nil
        }
    }
}
