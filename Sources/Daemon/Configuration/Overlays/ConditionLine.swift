internal import Declaration
internal import Journal

/// A condition in one line, as in `action=LOGOUT header.accept=*`: the terms of `when`, as the configuration would write them.
enum ConditionLine {
    struct Fault: Error {
        let position: Position
        let words: String
    }

    /// The keys of `when` that take a name.
    private static let named = ["header", "query", "cookie", "form", "json", "response_json"]

    /// The key and the value of `key=value`.
    static func parts(of term: String, _ position: Position) throws(Fault) -> (key: Substring, value: String) {
        guard let equals = term.utf8.firstIndex(of: 0x3D), equals > term.startIndex else {
            throw Fault(
                position: position,
                words: "\"\(Findings.quoted(term))\" is not a term; write key=value, as in action=LOGOUT")
        }
        let key = term[..<equals]
        let value = String(term[term.utf8.index(after: equals)...])
        guard !value.isEmpty else {
            throw Fault(position: position, words: "\(Findings.quoted(String(key))) has no value; * asks for any")
        }
        return (key, value)
    }

    /// The map under `when`.
    static func condition(_ line: String) throws(Fault) -> YAMLNode {
        var terms: [YAMLNode.Entry] = []
        for term in FlowFilter.split(line) {
            let (key, value) = try parts(of: term, .start)
            add(key, value, .start, to: &terms)
        }
        return YAMLNode(position: .start, content: .map(terms))
    }

    /// Adds a term to a map of conditions. The key may end in `!` and may have a name after a dot.
    static func add(
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
    static func list(_ text: String, _ position: Position) -> YAMLNode {
        func scalar(_ text: some StringProtocol) -> YAMLNode {
            YAMLNode(position: position, content: .scalar(String(text), isPlain: false))
        }
        guard !text.hasPrefix("~"), text.utf8.contains(0x2C) else { return scalar(text) }
        let values = text.utf8.split(separator: 0x2C).map { scalar(Substring($0)) }
        return YAMLNode(position: position, content: .list(values))
    }
}
