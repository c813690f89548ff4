internal import Declaration
internal import Formats

/// Parses YAML into a tree, within limits.
struct YAMLReader {
    /// The largest file in bytes.
    static let maxBytes = 1 << 20
    /// The deepest nesting of lists and maps.
    static let maxDepth = 64
    /// The largest number of values in a file. An alias counts as the value that it stands for.
    static let maxNodes = 100_000
    /// The number of duplicate keys that are reported.
    private static let maxRepeatedKeys = 32

    private let findings: Findings
    private let events: YAMLEvents
    private var nodes = 0
    private var repeatedKeys = 0
    private var anchors: [String: Anchored] = [:]

    /// A value with an anchor.
    private struct Anchored {
        var node: YAMLNode
        /// The number of values in it, including itself.
        var count: Int
    }

    /// The reason why reading ended early.
    private enum Ending: Error {
        case fault(YAMLFault)
        /// The error was recorded.
        case told
    }

    /// The root of the document; nil if there is none or it cannot be read. Errors are recorded as findings.
    /// - Parameter file: the index of the file, for positions.
    static func read(_ text: String, _ findings: Findings, file: Int = 0) -> YAMLNode? {
        guard text.utf8.count <= maxBytes else {
            findings.error(
                .start, "the file is larger than \(Units.size(maxBytes)); remove what is not configuration")
            return nil
        }
        guard AliasBudget.isKept(text) else {
            findings.error(.start, "the aliases (*name) of the file expand to too many values; write the values out")
            return nil
        }
        var bytes = text
        return bytes.withUTF8 { bytes in
            do throws(YAMLFault) {
                var reader = YAMLReader(findings: findings, events: try YAMLEvents(bytes, file: file))
                return try reader.document()
            } catch {
                report(error, in: text, findings)
                return nil
            }
        }
    }

    private init(findings: Findings, events: YAMLEvents) {
        self.findings = findings
        self.events = events
    }

    private mutating func document() throws(YAMLFault) -> YAMLNode? {
        do throws(Ending) {
            guard case .documentStart = try next() else { return nil }
            let root = try node(try next(), depth: 0)
            _ = try next()
            guard case .end = try next() else {
                findings.error(
                    events.position, "the file has more than one document; remove everything from this line on")
                return nil
            }
            return root
        } catch {
            guard case .fault(let fault) = error else { return nil }
            throw fault
        }
    }

    // MARK: values

    private func next() throws(Ending) -> YAMLEvents.Event {
        do throws(YAMLFault) { return try events.next() } catch { throw .fault(error) }
    }

    private mutating func node(_ event: YAMLEvents.Event, depth: Int) throws(Ending) -> YAMLNode {
        let position = events.position
        if case .alias(let name) = event { return try followed(name, depth, position) }
        let before = nodes
        try count(1, depth: depth, position)
        let content: YAMLNode.Content
        let name: String?
        switch event {
        case .scalar(let scalar):
            content = self.scalar(scalar, position)
            name = scalar.anchor
        case .listStart(let anchor):
            content = .list(try items(depth: depth))
            name = anchor
        case .mapStart(let anchor):
            content = .map(try entries(depth: depth))
            name = anchor
        // these events do not begin a value
        case .documentStart, .documentEnd, .end, .listEnd, .mapEnd, .alias:
            content = .list([])
            name = nil
        }
        let node = YAMLNode(position: position, content: content)
        if let name { anchors[name] = Anchored(node: node, count: nodes - before) }
        return node
    }

    /// The value of an alias, which counts again.
    private mutating func followed(_ name: String, _ depth: Int, _ position: Position) throws(Ending) -> YAMLNode {
        guard let anchored = anchors[name] else {
            throw .fault(.syntax(problem: "found undefined alias", position, context: nil))
        }
        try count(anchored.count, depth: depth + anchored.node.height, position)
        return anchored.node
    }

    private mutating func count(_ more: Int, depth: Int, _ position: Position) throws(Ending) {
        nodes += more
        guard nodes <= Self.maxNodes, depth <= Self.maxDepth else {
            findings.error(
                position,
                depth > Self.maxDepth
                    ? "lists and maps are nested deeper than \(Self.maxDepth) levels"
                    : "the file has more than \(Self.maxNodes) values")
            throw .told
        }
    }

    private func scalar(_ scalar: YAMLEvents.Scalar, _ position: Position) -> YAMLNode.Content {
        if let tag = scalar.tag {
            findings.error(position, "tags are not supported; write the value without \"\(tag)\"")
        }
        return .scalar(scalar.text, isPlain: scalar.isPlain)
    }

    private mutating func items(depth: Int) throws(Ending) -> [YAMLNode] {
        var items: [YAMLNode] = []
        while true {
            let event = try next()
            if case .listEnd = event { return items }
            items.append(try node(event, depth: depth + 1))
        }
    }

    private mutating func entries(depth: Int) throws(Ending) -> [YAMLNode.Entry] {
        var entries: [YAMLNode.Entry] = []
        var lines = KeyLines()
        while true {
            let event = try next()
            if case .mapEnd = event { return entries }
            guard let (key, position) = try key(event) else {
                try skip(try next())
                continue
            }
            let value = try node(try next(), depth: depth + 1)
            if let line = lines.note(key, position.line, among: entries) {
                try tellRepeated(key, position, line)
            }
            entries.append(.init(key: key, position: position, value: value))
        }
    }

    /// Nil if the key is invalid. Errors are recorded as findings.
    private mutating func key(_ event: YAMLEvents.Event) throws(Ending) -> (String, Position)? {
        var position = events.position
        let content: YAMLNode.Content
        switch event {
        case .scalar(let scalar):
            content = self.scalar(scalar, position)
            if let name = scalar.anchor {
                anchors[name] = Anchored(node: YAMLNode(position: position, content: content), count: 1)
            }
        case .alias(let name):
            let node = try followed(name, 0, position)
            position = node.position
            content = node.content
        default:
            try skip(event)
            content = .list([])
        }
        guard case .scalar(let key, let isPlain) = content else {
            findings.error(position, "a key must be plain text")
            return nil
        }
        guard key != "<<" || !isPlain else {
            findings.error(position, "merge keys (<<) are not supported; write the keys out")
            return nil
        }
        return (key, position)
    }

    private mutating func tellRepeated(_ key: String, _ position: Position, _ line: Int) throws(Ending) {
        repeatedKeys += 1
        guard repeatedKeys <= Self.maxRepeatedKeys else {
            findings.error(position, "the key \"\(Findings.quoted(key))\" is repeated; each key must be unique")
            throw .told
        }
        findings.error(
            position, "the key \"\(Findings.quoted(key))\" is already in line \(line); each key must be unique")
    }

    /// Skips a value with all its contents.
    private func skip(_ first: YAMLEvents.Event) throws(Ending) {
        var event = first
        var depth = 0
        while true {
            switch event {
            case .listStart, .mapStart: depth += 1
            case .listEnd, .mapEnd: depth -= 1
            default: break
            }
            if depth <= 0 { return }
            event = try next()
        }
    }

    // MARK: syntax errors

    private static func report(_ fault: YAMLFault, in text: String, _ findings: Findings) {
        switch fault {
        case .syntax(let problem, let position, let context):
            let place = context.map { " \($0.what) that begins in line \($0.line)" } ?? ""
            findings.error(
                position, "invalid YAML: \(problem)\(place)\(remedy(problem, position, in: text))")
        case .character(let problem, let offset):
            findings.error(
                Position(offset: offset, in: text),
                "invalid YAML: \(problem); remove the control character")
        case .memory:
            findings.error(.start, "invalid YAML")
        }
    }

    /// A likely remedy for errors that libyaml describes poorly.
    private static func remedy(_ problem: String, _ position: Position, in text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(position.line - 1) else { return "" }
        let line = lines[position.line - 1]
        let rest = line.unicodeScalars.dropFirst(position.column - 1)
        if rest.first == "\t" || line.prefix(while: { $0 == " " || $0 == "\t" }).contains("\t") {
            return "; indent with spaces, not with tabs"
        }
        if problem.contains("alias") || problem.contains("alphabetic or numeric") {
            return "; quote a value that begins with *, such as \"*.example.com\""
        }
        if let first = rest.first, "%@`".unicodeScalars.contains(first) {
            return "; quote a value that begins with \(first)"
        }
        if problem.contains("mapping values are not allowed") {
            return "; quote a value that contains \": \""
        }
        return ""
    }
}

extension YAMLNode {
    /// The number of nested levels below the node.
    fileprivate var height: Int {
        switch content {
        case .scalar: 0
        case .list(let items): items.reduce(0) { max($0, $1.height + 1) }
        case .map(let entries): entries.reduce(0) { max($0, $1.value.height + 1) }
        }
    }
}

extension Position {
    /// - Parameter offset: in bytes.
    fileprivate init(offset: Int, in text: String) {
        let before = String(decoding: text.utf8.prefix(offset), as: UTF8.self).unicodeScalars
        let line = before.count { $0 == "\n" } + 1
        let column = before.reversed().prefix { $0 != "\n" }.count + 1
        self.init(line: line, column: column)
    }
}
