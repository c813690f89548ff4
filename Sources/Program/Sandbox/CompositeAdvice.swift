internal import Formats
internal import HTTPCodec

/// An advice: names of conditions with their values, in order.
struct CompositeAdvice: Equatable, Sendable {
    struct Pair: Equatable, Sendable {
        var name: String
        var values: [String]
    }

    static let transaction = "TransactionConditionAdvice"
    static let service = "AuthenticateToServiceConditionAdvice"
    static let tree = "AuthenticateToTreeConditionAdvice"
    static let level = "AuthLevelConditionAdvice"
    static let scheme = "AuthSchemeConditionAdvice"
    static let realm = "AuthenticateToRealmConditionAdvice"
    static let force = "ForceAuthAdvice"

    var pairs: [Pair]

    init(_ name: String, _ value: String) { pairs = [Pair(name: name, values: [value])] }

    func first(_ name: String) -> String? { pairs.first { $0.name == name }?.values.first }

    /// The transaction of a start request.
    static func transactionId(of request: SandboxRequest) -> String? {
        let value = request.query["authIndexValue"] ?? ""
        switch request.query["authIndexType"] {
        case "transaction": return value
        case "composite_advice": return CompositeAdvice(indexValue: value)?.first(transaction)
        default: return nil
        }
    }

    /// The tree that upgrades a session, and its realm.
    struct Upgrade: Sendable {
        /// Nil for any realm.
        var realm: String?
        /// Nil if no tree has this name or reaches this level.
        var tree: Tree?
    }

    /// The upgrade of the first condition that a tree can meet; nil if there is none.
    func upgrade(_ directory: Directory) -> Upgrade? {
        for name in [Self.service, Self.tree, Self.scheme, Self.level, Self.realm, Self.force] {
            guard let value = first(name) else { continue }
            // `/alpha:StepUp`, `/:StepUp`, `:StepUp` or `StepUp`
            let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let realm = parts.count == 2 && !parts[0].isEmpty ? String(parts[0]) : nil
            let rest = String(parts.last ?? "")
            return switch name {
            case Self.level: Upgrade(realm: realm, tree: Int(rest).flatMap { directory.tree(reaching: $0) })
            case Self.realm: Upgrade(realm: value, tree: Trees.login)
            case Self.force: Upgrade(realm: nil, tree: Trees.login)
            default: Upgrade(realm: realm, tree: directory.tree(named: rest))
            }
        }
        return nil
    }

    // MARK: writing

    /// Such as `{"TransactionConditionAdvice":["…"]}`.
    var json: JSONValue { .object(pairs.map { .init($0.name, .strings($0.values)) }) }

    var xml: String {
        let body = pairs.map { pair in
            let values = pair.values.map { "<Value>\(MarkupText.escaped($0))</Value>" }.joined()
            return "<AttributeValuePair><Attribute name=\"\(pair.name)\"/>\(values)</AttributeValuePair>"
        }
        return "<Advices>\(body.joined())</Advices>"
    }

    // MARK: reading

    /// Reads `authIndexValue` after the decoding of the query: the document, the document percent-encoded once or twice more, or
    /// its base64 in either alphabet. Like AM it decodes a plain document once more, so a literal `%` or `+` is lost. Nil for
    /// anything else.
    init?(indexValue: String) {
        var text = indexValue
        if text.hasPrefix("<") {
            text = PercentCoding.decode(text, plusAsSpace: true)
        } else if text.hasPrefix("%") {
            for _ in 0..<2 where text.hasPrefix("%") { text = PercentCoding.decode(text, plusAsSpace: true) }
        } else if let bytes = Base64.decode(text) {
            text = String(decoding: bytes, as: UTF8.self)
        }
        guard let pairs = Reader.pairs(text) else { return nil }
        self.pairs = pairs
    }

    /// Parses `Advices = AttributeValuePair+`, `AttributeValuePair = Attribute(name), Value*`, with white space between elements.
    /// Declarations, comments, document types and entities beyond XML's five are malformed.
    private struct Reader {
        private var rest: Substring

        static func pairs(_ text: String) -> [Pair]? {
            var reader = Reader(rest: text[...])
            guard reader.take("<Advices>") else { return nil }
            var pairs: [Pair] = []
            while reader.take("<AttributeValuePair>") {
                guard let pair = reader.pair() else { return nil }
                pairs.append(pair)
            }
            guard reader.take("</Advices>"), reader.atEnd, !pairs.isEmpty else { return nil }
            return pairs
        }

        private mutating func pair() -> Pair? {
            guard take("<Attribute"), take("name"), take("="), take("\""), let name = text(until: "\""),
                FieldSyntax.isName(name), take("/>")
            else { return nil }
            var pair = Pair(name: name, values: [])
            while take("<Value>") {
                guard let value = text(until: "<"), take("/Value>") else { return nil }
                pair.values.append(value)
            }
            return take("</AttributeValuePair>") ? pair : nil
        }

        private var atEnd: Bool { rest.allSatisfy(\.isWhitespace) }

        /// Skips white space and this text.
        private mutating func take(_ token: String) -> Bool {
            let trimmed = rest.drop { $0.isWhitespace }
            guard trimmed.hasPrefix(token) else { return false }
            rest = trimmed.dropFirst(token.count)
            return true
        }

        /// Reads character data up to the delimiter, which is consumed.
        private mutating func text(until end: Character) -> String? {
            guard let position = rest.firstIndex(of: end) else { return nil }
            let raw = rest[..<position]
            rest = rest[rest.index(after: position)...]
            return Self.resolved(raw)
        }

        private static func resolved(_ raw: Substring) -> String? {
            let names: [Substring: Character] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
            var out = ""
            var parts = raw.split(separator: "&", omittingEmptySubsequences: false).makeIterator()
            out += parts.next() ?? ""
            while let part = parts.next() {
                guard let semicolon = part.firstIndex(of: ";"), let character = names[part[..<semicolon]] else {
                    return nil
                }
                out.append(character)
                out += part[part.index(after: semicolon)...]
            }
            return out
        }
    }
}
