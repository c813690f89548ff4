internal import Declaration
internal import Formats

/// Shows values according to the key table: addresses, names, numbers and options are shown; free text only for keys that are
/// never secret. References stay references.
extension EffectiveDocument {
    static func shown(_ root: YAMLNode) -> JSONValue { object(root, KeyTable.root) }

    /// The objects that apply even if they are not written.
    private static let groups: Set<String> = [
        "clients", "names", "destinations", "tls", "ca", "upstream_tls", "limits", "timeouts", "log", "admin",
        "journal",
        "journal.disk",
    ]

    /// Keys whose free text is never secret.
    private static let harmless: Set<String> = [
        "name", "prompt", "stage", "scope", "id", "user", "tree", "trees", "type", "service", "platform", "application",
        "realm", "realms", "content_type", "redirect_uri", "callback", "choose", "identity", "login", "user_agent",
        "Accept", "Accept-Language", "Accept-Encoding", "Cache-Control", "Content-Type", "User-Agent",
    ]

    private static let hidden = JSONValue.string("REDACTED")

    private static func object(_ node: YAMLNode?, _ shape: ObjectShape) -> JSONValue {
        var entries: [YAMLNode.Entry] = []
        if case .map(let written)? = node?.content { entries = written }
        var members: [JSONValue.Member] = []
        for key in shape.keys {
            if let entry = entries.first(where: { $0.key == key.name }), !entry.value.isNull {
                members.append(.init(key.name, value(entry.value, key.shape, key.name)))
            } else if let standard = key.standard {
                members.append(.init(key.name, Schema.json(standard)))
            } else if case .object(let inner) = key.shape, groups.contains(inner.name) {
                let group = object(nil, inner)
                if group.members?.isEmpty == false { members.append(.init(key.name, group)) }
            }
        }
        return .object(members)
    }

    private static func value(_ node: YAMLNode, _ shape: Shape, _ name: String) -> JSONValue {
        if case .list(let items) = node.content {
            let element: Shape =
                switch shape {
                case .list(let element), .oneOrMany(let element): element
                default: shape
                }
            return .array(items.map { value($0, element, name) })
        }
        if case .map(let entries) = node.content { return map(node, entries, shape) }
        return scalar(node, shape, name)
    }

    private static func map(_ node: YAMLNode, _ entries: [YAMLNode.Entry], _ shape: Shape) -> JSONValue {
        switch shape {
        case .object(let object), .either(_, let object): self.object(node, object)
        case .list(let element), .oneOrMany(let element), .orNull(let element): value(node, element, "")
        case .map(_, let element):
            .object(entries.map { .init($0.key, value($0.value, element, $0.key)) })
        default: .object(entries.map { .init($0.key, value($0.value, .json, $0.key)) })
        }
    }

    private static func scalar(_ node: YAMLNode, _ shape: Shape, _ name: String) -> JSONValue {
        guard case .scalar(let text, let isPlain) = node.content else { return hidden }
        switch shape {
        case .list(let shape), .oneOrMany(let shape), .orNull(let shape), .either(let shape, _):
            return scalar(node, shape, name)
        case .text(let format) where format.takesUser && format.host == .url:
            return isReferences(text) ? .string(text) : .string(withoutUser(text))
        case .text(let format) where format.isPublic, .template(let format) where format.isPublic:
            return .string(text)
        // a private key is shown as its file's path
        case .secret: return .string(text)
        case .matcher(let kind) where kind != .text: return .string(text)
        case .choice, .duration, .size: return .string(text)
        case .boolean, .integer, .integerOr:
            return (isPlain ? Walker.plain(text, node) : nil) ?? .string(text)
        case .json where isPlain && (text == "true" || text == "false"): return .bool(text == "true")
        default: return harmless.contains(name) || isReferences(text) ? .string(text) : hidden
        }
    }

    /// True if the text consists of references only.
    private static func isReferences(_ text: String) -> Bool {
        var rest = Substring(text).utf8
        while rest.starts(with: "${".utf8), let end = rest.firstIndex(of: 0x7D) {
            rest = rest[rest.index(after: end)...]
        }
        return rest.isEmpty && !text.isEmpty
    }

    /// Replaces the user name and the password in a URL.
    private static func withoutUser(_ text: String) -> String {
        let bytes = text.utf8
        guard let at = bytes.lastIndex(of: 0x40) else { return text }
        let host = String(Substring(bytes[at...]))
        return text.hasPrefix("http://") ? "http://REDACTED\(host)" : "REDACTED\(host)"
    }
}
