public import Declaration
internal import Scripts

/// `script`: asks a program of one's own, in any language, about messages.
public struct Script: BuiltIn {
    public static let name = "script"
    public static let doc = "Asks a program of one's own about messages (docs/scripts.md)."
    public static let shape = Shape.object(
        ObjectShape(
            "script",
            [
                Key(
                    "run", .list(.text(.term)),
                    "The program and its arguments. Usher starts it in the folder of the configuration."),
                Key(
                    "connect", .text(.socketPath), "The Unix socket of a program that runs by itself: unix:/run/x.sock."
                ),
                Key("phases", .oneOrMany(.choice(phases)), "What it is asked about.", standard: "request"),
                Key("needs", .choice(needs), "head: it sees no bodies. body: whole bodies, decoded.", standard: "head"),
                Key("timeout", .duration(1...600_000), "The longest time for an answer.", standard: "2s"),
                Key(
                    "on_failure", .choice(["refuse", "pass"]),
                    "What becomes of an exchange without a good answer. refuse: 502. pass: it goes on unchanged.",
                    standard: "refuse"),
                Key("workers", .integer(1...64), "The number of processes, or of connections.", standard: "1"),
                Key(
                    "restart", .duration(100...3_600_000),
                    "The longest wait before a worker that ended is started again. The first is 100ms, and it doubles.",
                    standard: "10s"),
                Key("open", .integer(1...65_536), "The most questions that wait for one worker.", standard: "256"),
                Key(
                    "frame", .size(1024...(1 << 30), orUnlimited: false), "The largest answer.", standard: "16MiB"),
                Key(
                    "file_above", .size(4096...(1 << 30), orUnlimited: false),
                    "Larger bodies go through files, both ways, if the script can.", standard: "256KiB"),
                Key(
                    "memory", .size((1 << 20)...(1 << 40), orUnlimited: false),
                    "The largest private memory of a worker."),
                Key("user", .text(.name), "The user that it runs as. Required where Usher runs as root."),
                Key("environment", .map(.name, .text(.any)), "Its variables, beside PATH, HOME, LANG, TZ and TMPDIR."),
            ]))

    /// What its verdicts may do.
    public var powers: Powers? {
        line.terms.phases.contains(.response) ? [.edit, .mock, .fault, .replay] : [.edit, .mock, .fault]
    }
    /// Whether a message that the script cannot be asked about ends its exchange.
    public var refuses: Bool { line.terms.onFailure == .refuse }
    public let readsAnswer: Bool

    private let line: ScriptLine

    private static let phases = ScriptTerms.Phase.allCases.map(\.rawValue)
    private static let needs = ScriptTerms.Needs.allCases.map(\.rawValue)

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields, let origin = Self.origin(fields, reader.findings, value.position) else {
            return nil
        }
        var terms = ScriptTerms(origin)
        if fields.has("phases") {
            terms.phases = Set(fields.list("phases").compactMap { $0.text.flatMap(ScriptTerms.Phase.init) })
            if fields["phases"]?.isEmptyList == true {
                reader.findings.error(
                    fields.position(of: "phases") ?? value.position, "phases names request, response or both")
            }
            // an invalid item was reported already
            if terms.phases.isEmpty { return nil }
        }
        if let needs = fields.text("needs").flatMap(ScriptTerms.Needs.init) { terms.needs = needs }
        if let failure = fields.text("on_failure").flatMap(ScriptTerms.Failure.init) { terms.onFailure = failure }
        if let number = fields.number("timeout") { terms.timeout = number }
        if let number = fields.number("workers") { terms.workers = number }
        if let number = fields.number("restart") { terms.restart = number }
        if let number = fields.number("open") { terms.open = number }
        if let number = fields.number("frame") { terms.frame = number }
        if let number = fields.number("file_above") { terms.fileAbove = number }
        terms.memory = fields.number("memory")
        terms.user = fields.text("user")
        for field in fields.fields("environment")?.all ?? [] { terms.environment[field.name] = field.value.text }
        guard let line = reader.script(terms, reader.interceptor, value.position) else { return nil }
        self.line = line
        // a condition on the response leaves nothing to ask about the request
        readsAnswer = terms.phases == [.response]
    }

    private static func origin(_ fields: Fields, _ findings: Findings, _ position: Position) -> ScriptTerms.Origin? {
        for name in ["user", "environment", "memory", "file_above"] where fields.has("connect") && fields.has(name) {
            findings.error(
                fields.position(of: name) ?? position,
                "\(name) has no effect on a program that runs by itself; remove it")
        }
        let command = fields.list("run").compactMap(\.text)
        switch (fields.has("run"), fields.text("connect")) {
        case (true, nil) where !command.isEmpty && command[0] != "": return .run(command)
        case (true, nil):
            // an invalid item was reported already
            if fields["run"]?.isWholeList == true {
                findings.error(fields.position(of: "run") ?? position, "run names a program: run: [node, script.mjs]")
            }
        case (false, let path?): return .connect(String(path.dropFirst("unix:".count)))
        case (true, _?):
            findings.error(
                fields.position(of: "connect") ?? position,
                "a script is started with run, or runs by itself under connect; remove one")
        case (false, nil) where !fields.has("connect"):
            findings.error(position, "a script has run: [PROGRAM, ARGUMENT] or connect: unix:/run/x.sock")
        case (false, nil): break
        }
        return nil
    }

    public func equip(_ rule: inout Rule) {
        if line.terms.phases.contains(.request) { rule.request = [SwiftEdit(line, in: .request)] }
        if line.terms.phases.contains(.response) { rule.response = [SwiftEdit(line, in: .response)] }
    }

    public var words: String { "asks the script \(line.terms.words)" }
}

extension TextFormat {
    /// A Unix socket: `unix:/run/x.sock`.
    static let socketPath = TextFormat("a Unix socket, such as unix:/run/x.sock", pattern: "^unix:/[^\\x00]+$") {
        $0.hasPrefix("unix:/") && $0.utf8.count > 6 && !$0.utf8.contains(0)
    }
}
