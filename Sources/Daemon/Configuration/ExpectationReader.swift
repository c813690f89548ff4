internal import Declaration
public import Expectations
public import Formats
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
            do throws(ConditionLine.Fault) {
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

/// An expectation of one line, as the admin API takes it.
public enum ExpectationWords {
    public struct Fault: Error {
        public let description: String
    }

    /// - Parameter lines: such as `action=LOGOUT count=1`.
    public static func json(_ lines: [String]) throws(Fault) -> JSONValue {
        var entries: [JSONValue] = []
        for line in lines {
            do throws(ConditionLine.Fault) {
                entries.append(Walker.json(try ExpectationLine.entry(line, .start)))
            } catch {
                throw Fault(description: error.words)
            }
        }
        return .array(entries)
    }
}

/// Reads an expectation of one line, as in `action=LOGOUT header.accept=* count=1`.
enum ExpectationLine {
    /// The keys of the entry itself.
    private static let own = ["use", "except", "name", "count", "before", "after", "within", "per", "step_up"]

    /// The entry as the configuration would write it. Keys and values are checked later.
    static func entry(_ line: String, _ place: Position) throws(ConditionLine.Fault) -> YAMLNode {
        var entry: [YAMLNode.Entry] = []
        var when: [YAMLNode.Entry] = []
        var each: [YAMLNode.Entry] = []
        var column = 1
        for term in FlowFilter.split(line) {
            let position = Position(line: place.line, column: column)
            column += term.unicodeScalars.count + 1
            var (key, value) = try ConditionLine.parts(of: term, position)
            if key == "count>" || key == "count<" {
                value = "\(key.last.map(String.init) ?? "")=\(value)"
                key = "count"
            }
            if own.contains(String(key)) {
                entry.append(.init(key: String(key), position: position, value: ConditionLine.list(value, position)))
            } else if key.hasPrefix("each.") {
                ConditionLine.add(key.dropFirst(5), value, position, to: &each)
            } else {
                ConditionLine.add(key, value, position, to: &when)
            }
        }
        for (name, terms) in [("when", when), ("each", each)] where !terms.isEmpty {
            entry.append(.init(key: name, position: place, value: YAMLNode(position: place, content: .map(terms))))
        }
        return YAMLNode(position: place, content: .map(entry))
    }
}
