internal import Declaration
public import Expectations
internal import Formats
internal import Interception
internal import Journal
internal import ProxyCore

/// Reads expectations that are no part of a configuration: a file, the body of a request, or terms of a command line.
public struct ExpectationReader {
    /// The names of the configuration's Actions; nil if they are not known, so that any name may be one.
    private let actions: [String]?
    /// Expectations that `before` and `after` may name.
    private let others: [Expectation]

    public init(actions: [String]? = nil, beside others: [Expectation] = []) {
        self.actions = actions
        self.others = others
    }

    /// Reads expectations beside those of a configuration; of an unknown one if it is nil.
    public init(_ snapshot: Snapshot?) {
        self.init(
            actions: snapshot?.settings.actions.map(\.action.rawValue), beside: snapshot?.expectations ?? [])
    }

    /// - Parameter text: YAML or JSON: an entry of `expect`, a list of entries, or a map with the key `expect`.
    public func expectations(in text: String, file: String) -> Result<[Expectation], ConfigurationFaults> {
        let findings = Findings(file: file)
        let root = YAMLReader.read(text, findings)
        if root == nil, !findings.hasErrors { findings.error(.start, "there is no expectation") }
        return expectations(root.map { $0["expect"] ?? $0 }, findings)
    }

    /// - Parameter lines: such as `action=LOGOUT count=1`.
    public func expectations(in lines: [String]) -> Result<[Expectation], ConfigurationFaults> {
        let findings = Findings(file: "expectation")
        var entries: [YAMLNode] = []
        for (index, line) in lines.enumerated() {
            do throws(ExpectationLine.Fault) {
                entries.append(try ExpectationLine.entry(line, Position(line: index + 1, column: 1)))
            } catch {
                findings.error(error.position, error.words)
            }
        }
        return expectations(YAMLNode(position: .start, content: .list(entries)), findings)
    }

    private func expectations(
        _ root: YAMLNode?, _ findings: Findings
    ) -> Result<[Expectation], ConfigurationFaults> {
        var read: [Expectation] = []
        if let root, !findings.hasErrors {
            // secrets are no part of stored flows, so nothing refers to any
            let secrets = Secrets(
                environment: [:], folders: [""], readFile: { _ throws(FileFault) in throw .missing },
                findings: findings, variables: ReadVariables())
            let walker = Walker(findings: findings, secrets: secrets)
            let value = walker.decode(
                root, .oneOrMany(.object(KeyTable.expectation)), path: "expect", keyPosition: root.position)
            let reader = RuleReader(findings: findings)
            let conditions = ConditionBuilder(reader: reader, defined: actions ?? [], definesOthers: actions == nil)
            read = ExpectationBuilder(conditions: conditions, others: others).expectations(value?.list ?? [])
        }
        guard !findings.hasErrors else {
            return .failure(ConfigurationFaults(diagnostics: findings.diagnostics))
        }
        return .success(read)
    }
}

/// Reads an expectation of one line, as in `action=LOGOUT header.accept=* count=1`.
enum ExpectationLine {
    struct Fault: Error {
        let position: Position
        let words: String
    }

    /// The keys of `when` that take a name.
    private static let named = ["header", "query", "cookie", "form", "json", "response_json"]
    /// The keys of the entry itself.
    private static let own = ["use", "except", "name", "count", "before", "after", "within", "per"]

    /// The entry as the configuration would write it. Keys and values are checked later.
    static func entry(_ line: String, _ place: Position) throws(Fault) -> YAMLNode {
        var entry: [YAMLNode.Entry] = []
        var when: [YAMLNode.Entry] = []
        var each: [YAMLNode.Entry] = []
        var column = 1
        for term in FlowFilter.split(line) {
            let position = Position(line: place.line, column: column)
            column += term.unicodeScalars.count + 1
            guard let equals = term.utf8.firstIndex(of: 0x3D), equals > term.startIndex else {
                throw Fault(
                    position: position,
                    words: "\"\(Findings.quoted(term))\" is not a term; write key=value, as in action=LOGOUT")
            }
            var key = term[..<equals]
            var value = String(term[term.utf8.index(after: equals)...])
            guard !value.isEmpty else {
                throw Fault(position: position, words: "\(Findings.quoted(String(key))) has no value; * asks for any")
            }
            if key == "count>" || key == "count<" {
                value = "\(key.last.map(String.init) ?? "")=\(value)"
                key = "count"
            }
            if own.contains(String(key)) {
                entry.append(.init(key: String(key), position: position, value: list(value, position)))
            } else if key.hasPrefix("each.") {
                add(key.dropFirst(5), value, position, to: &each)
            } else {
                add(key, value, position, to: &when)
            }
        }
        for (name, terms) in [("when", when), ("each", each)] where !terms.isEmpty {
            entry.append(.init(key: name, position: place, value: YAMLNode(position: place, content: .map(terms))))
        }
        return YAMLNode(position: place, content: .map(entry))
    }

    private static func add(
        _ key: Substring, _ value: String, _ position: Position, to terms: inout [YAMLNode.Entry]
    ) {
        guard !key.hasSuffix("!") else {
            var inner: [YAMLNode.Entry] = []
            add(key.dropLast(), value, position, to: &inner)
            // a condition has one not, so that several become its alternatives
            return append("any", [YAMLNode(position: position, content: .map(inner))], "not", position, to: &terms)
        }
        let dot = key.utf8.firstIndex(of: 0x2E) ?? key.endIndex
        let group = String(key[..<dot])
        guard dot < key.endIndex, named.contains(group) else {
            return terms.append(.init(key: String(key), position: position, value: list(value, position)))
        }
        let name = String(key[key.utf8.index(after: dot)...])
        let entry = YAMLNode.Entry(key: name, position: position, value: list(value, position))
        insert(entry, group, position, into: &terms)
    }

    private static func append(
        _ key: String, _ items: [YAMLNode], _ group: String, _ position: Position, to terms: inout [YAMLNode.Entry]
    ) {
        let place = terms.firstIndex { $0.key == group }
        var all = items
        if let place, case .list(let before)? = terms[place].value[key]?.content { all = before + items }
        let list = YAMLNode.Entry(
            key: key, position: position, value: YAMLNode(position: position, content: .list(all)))
        let value = YAMLNode(position: position, content: .map([list]))
        if let place {
            terms[place].value = value
        } else {
            terms.append(.init(key: group, position: position, value: value))
        }
    }

    private static func insert(
        _ entry: YAMLNode.Entry, _ group: String, _ position: Position, into terms: inout [YAMLNode.Entry]
    ) {
        guard let place = terms.firstIndex(where: { $0.key == group }),
            case .map(let before) = terms[place].value.content
        else {
            return terms.append(
                .init(key: group, position: position, value: YAMLNode(position: position, content: .map([entry]))))
        }
        terms[place].value.content = .map(before + [entry])
    }

    /// Commas separate values, except in a regular expression.
    private static func list(_ text: String, _ position: Position) -> YAMLNode {
        func scalar(_ text: some StringProtocol) -> YAMLNode {
            YAMLNode(position: position, content: .scalar(String(text), isPlain: false))
        }
        guard !text.hasPrefix("~"), text.utf8.contains(0x2C) else { return scalar(text) }
        let values = text.utf8.split(separator: 0x2C).map { scalar(Substring($0)) }
        return YAMLNode(position: position, content: .list(values))
    }
}
