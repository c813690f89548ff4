internal import Declaration
internal import Formats
internal import Yams

/// Text → tree, within bounds. The only place that knows the YAML library.
struct YAMLReader {
    /// Bytes of a configuration file.
    static let maxBytes = 1 << 20
    /// Levels of lists and maps.
    static let maxDepth = 64
    /// Values of a file, each alias counted as what it stands for.
    static let maxNodes = 100_000
    /// Keys that stand twice; a file with more of them is reported up to here.
    private static let maxRepeatedKeys = 32

    private let findings: Findings
    private let text: String
    private var nodes = 0
    private var isTooBig = false
    /// Keys that were written over so that the parser takes them: where, and their own first character.
    private var maskedKeys: [Position: Unicode.Scalar] = [:]

    private init(_ text: String, _ findings: Findings) {
        self.text = text
        self.findings = findings
    }

    /// The document's root; nil where there is none or it cannot be read, which has been reported then.
    static func read(_ text: String, _ findings: Findings) -> YAMLNode? {
        guard text.utf8.count <= maxBytes else {
            findings.error(
                .start, "the file is larger than \(Units.size(maxBytes)); split off what is no configuration")
            return nil
        }
        guard AliasBudget.isKept(text) else {
            findings.error(.start, "the aliases (*name) of the file stand for too much; write the values out")
            return nil
        }
        var reader = YAMLReader(text, findings)
        guard let root = reader.compose() else { return nil }
        let node = reader.convert(root, depth: 0, at: .start)
        return reader.isTooBig ? nil : node
    }

    // MARK: parsing

    /// The library refuses a map with a repeated key and tells of one only. The first of the two is masked and the
    /// text read again, so that everything else in the file is still judged.
    private mutating func compose() -> Yams.Node? {
        var text = text
        while true {
            do {
                // what a scalar means is settled here, and to have it guessed costs more than to read it
                return try Yams.compose(yaml: text, .basic)
            } catch YamlError.duplicatedKeysInMapping(let names, let context) {
                let position = Position(context.mark)
                guard maskedKeys.count < Self.maxRepeatedKeys, maskedKeys[position] == nil,
                    let masked = mask(&text, position)
                else {
                    findings.error(position, "the key \"\(names.first ?? "")\" is repeated; every key may stand once")
                    return nil
                }
                maskedKeys[position] = masked
            } catch let error as YamlError {
                report(error)
                return nil
            } catch {
                findings.error(.start, "this is no valid YAML")
                return nil
            }
        }
    }

    /// Writes a private-use character over the first letter of a key; columns stay as they are.
    private func mask(_ text: inout String, _ position: Position) -> Unicode.Scalar? {
        var scalars = Array(text.unicodeScalars)
        var index = 0
        for _ in 1..<max(position.line, 1) {
            while index < scalars.count, !Self.breaksLine(scalars, index) { index += 1 }
            index += 1
        }
        index += position.column - 1
        var quote: Unicode.Scalar?
        if index < scalars.count, scalars[index] == "\"" || scalars[index] == "'" {
            quote = scalars[index]
            index += 1
        }
        guard index < scalars.count, scalars[index] != quote,
            let mark = Unicode.Scalar(0xE000 + UInt32(maskedKeys.count))
        else { return nil }
        let own = scalars[index]
        scalars[index] = mark
        text = String(String.UnicodeScalarView(scalars))
        return own
    }

    /// The line breaks that the library counts: LF, CR, CR LF, NEL, LS and PS.
    private static func breaksLine(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        switch scalars[index] {
        case "\n", "\u{85}", "\u{2028}", "\u{2029}": true
        case "\r": index + 1 >= scalars.count || scalars[index + 1] != "\n"
        default: false
        }
    }

    // MARK: converting

    private mutating func convert(_ node: Yams.Node, depth: Int, at fallback: Position) -> YAMLNode {
        let position = node.mark.map(Position.init) ?? fallback
        nodes += 1
        guard nodes <= Self.maxNodes, depth <= Self.maxDepth else {
            if !isTooBig {
                findings.error(
                    position,
                    depth > Self.maxDepth
                        ? "lists and maps are nested deeper than \(Self.maxDepth) levels"
                        : "the file holds more than \(Self.maxNodes) values")
            }
            isTooBig = true
            return YAMLNode(position: position, content: .list([]))
        }
        switch node {
        case .scalar(let scalar):
            return YAMLNode(position: position, content: self.scalar(scalar, position))
        case .sequence(let items):
            var list: [YAMLNode] = []
            for item in items where !isTooBig { list.append(convert(item, depth: depth + 1, at: position)) }
            return YAMLNode(position: position, content: .list(list))
        case .mapping(let pairs):
            return YAMLNode(position: position, content: .map(entries(pairs, depth: depth, at: position)))
        case .alias:
            // composing follows aliases; this case serves the library's emitter
            return YAMLNode(position: position, content: .scalar("", isPlain: true))
        }
    }

    private func scalar(_ scalar: Yams.Node.Scalar, _ position: Position) -> YAMLNode.Content {
        let tag = scalar.tag.description
        if !["", "!", "tag:yaml.org,2002:str"].contains(tag) {
            findings.error(position, "tags are not understood here; write the value without \"\(tag)\"")
        }
        return .scalar(scalar.string, isPlain: scalar.style == .plain && tag.isEmpty)
    }

    private mutating func entries(_ pairs: Yams.Node.Mapping, depth: Int, at fallback: Position) -> [YAMLNode.Entry] {
        var entries: [YAMLNode.Entry] = []
        var lines: [String: Int] = [:]
        for pair in pairs where !isTooBig {
            let position = pair.key.mark.map(Position.init) ?? fallback
            guard case .scalar(let scalar) = pair.key else {
                findings.error(position, "a key must be plain text")
                continue
            }
            var key = scalar.string
            if let own = maskedKeys[position] {
                key = String(String.UnicodeScalarView([own] + key.unicodeScalars.dropFirst()))
            }
            guard key != "<<" || scalar.style != .plain else {
                findings.error(position, "merge keys (<<) are not understood; write the keys out")
                continue
            }
            let value = convert(pair.value, depth: depth + 1, at: position)
            if let line = lines[key] {
                findings.error(position, "the key \"\(key)\" already stands in line \(line); every key may stand once")
            }
            lines[key] = lines[key] ?? position.line
            entries.append(.init(key: key, position: position, value: value))
        }
        return entries
    }

    // MARK: syntax errors

    private func report(_ error: YamlError) {
        switch error {
        case .composer(_, let problem, let mark, _) where problem.contains("another document"):
            findings.error(Position(mark), "the file holds more than one document; remove all from this line on")
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let place = context.map { " \($0.text) that begins in line \($0.mark.line)" } ?? ""
            let position = Position(mark)
            findings.error(position, "this is no valid YAML: \(problem)\(place)\(remedy(problem, position))")
        case .reader(let problem, let offset, _, let text):
            findings.error(
                Position(offset: offset ?? 0, in: text),
                "this is no valid YAML: \(problem); remove the control character")
        default:
            findings.error(.start, "this is no valid YAML")
        }
    }

    /// What a person most likely meant where the library's words do not tell.
    private func remedy(_ problem: String, _ position: Position) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(position.line - 1) else { return "" }
        let line = lines[position.line - 1]
        let rest = line.unicodeScalars.dropFirst(position.column - 1)
        if rest.first == "\t" || line.prefix(while: { $0 == " " || $0 == "\t" }).contains("\t") {
            return "; indent with spaces, not with tabs"
        }
        if problem.contains("alias") || problem.contains("alphabetic or numeric") {
            return "; a value that begins with * must stand in quotes, as \"*.example.com\""
        }
        if let first = rest.first, "%@`".unicodeScalars.contains(first) {
            return "; a value that begins with \(first) must stand in quotes"
        }
        if problem.contains("mapping values are not allowed") {
            return "; a value that holds \": \" must stand in quotes"
        }
        return ""
    }
}

extension Position {
    fileprivate init(_ mark: Mark) { self.init(line: mark.line, column: mark.column) }

    /// - Parameter offset: in characters.
    fileprivate init(offset: Int, in text: String) {
        let before = text.prefix(offset)
        let line = before.unicodeScalars.count { $0 == "\n" } + 1
        let column = before.unicodeScalars.reversed().prefix { $0 != "\n" }.count + 1
        self.init(line: line, column: column)
    }
}
