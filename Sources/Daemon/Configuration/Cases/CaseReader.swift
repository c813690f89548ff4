internal import Declaration
internal import Formats
internal import HTTPCodec
internal import Interception
internal import ProxyCore

/// Reads files of cases. It reports all errors of a file at once.
public struct CaseReader {
    private let findings: Findings
    private let source: ConfigurationSource
    private let readFile: FileReading

    /// Reads files and folders of this machine.
    public static func load(
        paths: [String], environment: [String: String]
    ) -> Result<[CaseFile], ConfigurationFaults> {
        switch ConfigurationSource.read(paths) {
        case .failure(let faults): return .failure(faults)
        case .success(let sources):
            var files: [CaseFile] = []
            var faults: [Diagnostic] = []
            for source in sources {
                let read = load(source, environment: environment) { path throws(FileFault) in
                    try DiskFile.read(path, limit: MaterialReader.maxBytes)
                }
                switch read {
                case .success(let file): files.append(file)
                case .failure(let found): faults += found.diagnostics
                }
            }
            return faults.isEmpty ? .success(files) : .failure(ConfigurationFaults(diagnostics: faults))
        }
    }

    public static func load(
        _ source: ConfigurationSource, environment: [String: String], readFile: @escaping FileReading
    ) -> Result<CaseFile, ConfigurationFaults> {
        let findings = Findings(file: source.file)
        let secrets = Secrets(
            environment: environment, folders: [source.folder], readFile: readFile, findings: findings,
            variables: ReadVariables())
        let reader = CaseReader(findings: findings, source: source, readFile: readFile)
        var file: CaseFile?
        if let root = YAMLReader.read(source.text, findings) {
            let fields = Walker(findings: findings, secrets: secrets).object(root, .caseFile, path: "")
            file = fields.map(reader.file)
            file?.secrets = secrets.collector.texts
        } else if !findings.hasErrors {
            findings.error(.start, "the file is empty; start it with config: and cases:")
        }
        guard let file, !findings.hasErrors else {
            return .failure(ConfigurationFaults(diagnostics: findings.diagnostics))
        }
        return .success(file)
    }

    private func file(_ root: Fields) -> CaseFile {
        if let cases = root["cases"], cases.isEmptyList { findings.error(cases.position, "the file has no case") }
        var environment: [String: String] = [:]
        for field in root.fields("environment")?.all ?? [] { environment[field.name] = field.value.text }
        return CaseFile(
            path: source.file, configuration: root.list("config").compactMap(\.text).map(located),
            environment: environment, cases: root.list("cases").compactMap { $0.fields.flatMap(testCase) }, secrets: [])
    }

    /// Resolves a path relative to the file.
    private func located(_ path: String) -> String {
        path.hasPrefix("/") || source.folder.isEmpty ? path : "\(source.folder)/\(path)"
    }

    private func place(_ position: Position) -> CasePlace {
        CasePlace(file: source.file, line: position.line, column: position.column)
    }

    private func placed<Value>(_ field: Fields.Field?, _ value: Value?) -> Placed<Value>? {
        guard let field, let value else { return nil }
        return Placed(place: place(field.position), value: value)
    }

    // MARK: a case

    private func testCase(_ fields: Fields) -> TestCase? {
        guard let name = fields.text("name"), let request = fields.field("request"),
            let message = message(request.value), let expect = fields.fields("expect")
        else { return nil }
        func text(_ key: String) -> Placed<String>? { placed(expect.field(key), expect.text(key)) }
        func names(_ key: String) -> Placed<[String]>? {
            placed(expect.field(key), expect[key]?.list.compactMap(\.text))
        }
        if expect.written.isEmpty { findings.error(expect.position, "expect is empty; add sent or received") }
        return TestCase(
            name: name, place: place(fields.position),
            request: Placed(place: place(request.value.position), value: message), origin: origin(fields["origin"]),
            others: fields.number("others") ?? 0,
            action: text("action"), tree: text("tree"), realm: text("realm"), session: text("session"),
            applied: names("applied"),
            notApplied: names("not_applied"), took: placed(expect.field("took"), expect.number("took")),
            sent: sent(expect.field("sent")),
            received: placed(expect.field("received"), expect["received"].map(reception)),
            connection: placed(
                expect.field("connection"), expect.text("connection").flatMap { DryRun.ConnectionEnd(rawValue: $0) }))
    }

    // MARK: input

    private func message(_ value: Decoded) -> [UInt8]? {
        if let text = value.text { return Self.bytes(text) }
        guard let fields = value.fields, let url = fields.text("url"), let body = body(fields) else { return nil }
        let method = fields.text("method") ?? (body.isThere ? "POST" : "GET")
        let host = (try? RequestHead(method: method, url: url)).map { $0.fields.text($0.target.authority) } ?? ""
        var lines = lines(fields)
        if !lines.contains(where: { ASCII.equal($0.name, "Host") }) { lines.insert(Pair("Host", host), at: 0) }
        return Self.written("\(method) \(url) HTTP/1.1", lines, body, tellsLength: body.isThere)
    }

    /// Removes the final line break, which belongs to the file and not to the message.
    private static func bytes(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        Secrets.trimLineBreak(&bytes)
        return bytes
    }

    private static func written(_ start: String, _ lines: [Pair], _ body: Body, tellsLength: Bool) -> [UInt8] {
        var lines = lines
        func has(_ name: String) -> Bool { lines.contains { ASCII.equal($0.name, name) } }
        if let type = body.type, !has("Content-Type") { lines.append(Pair("Content-Type", type)) }
        if tellsLength, !has("Content-Length"), !has("Transfer-Encoding") {
            lines.append(Pair("Content-Length", "\(body.bytes.count)"))
        }
        let head = ([start] + lines.map { "\($0.name): \($0.value)" }).joined(separator: "\r\n")
        return Array("\(head)\r\n\r\n".utf8) + body.bytes
    }

    private func lines(_ fields: Fields) -> [Pair] {
        (fields.fields("headers")?.all ?? []).flatMap { field in
            field.value.list.compactMap(\.text).map { Pair(field.name, $0) }
        }
    }

    private struct Body {
        var bytes: [UInt8] = []
        var type: String?
        var isThere = false
    }

    private func body(_ fields: Fields) -> Body? {
        let written = ["body", "json", "form", "file"].filter(fields.has)
        if written.count > 1 {
            findings.error(fields.position, "a message has one body, found \(written.joined(separator: " and "))")
            return nil
        }
        if let text = fields.text("body") { return Body(bytes: Array(text.utf8), isThere: true) }
        if let json = fields["json"]?.json {
            return Body(bytes: Array(json.serialized.utf8), type: "application/json", isThere: true)
        }
        if let form = fields.fields("form") {
            let pairs = form.all.map {
                "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value.text ?? ""))"
            }
            return Body(
                bytes: Array(pairs.joined(separator: "&").utf8), type: "application/x-www-form-urlencoded",
                isThere: true)
        }
        guard let file = fields["file"], let path = file.text else { return Body() }
        do throws(FileFault) {
            return Body(bytes: try readFile(located(path)).bytes, isThere: true)
        } catch {
            findings.error(file.position, "the file \(located(path)) \(error.explanation)")
            return nil
        }
    }

    private func origin(_ value: Decoded?) -> TestCase.Origin {
        guard let value else { return .silent }
        let answers = value.list.compactMap { item in
            answer(item).map { Placed(place: place(item.position), value: $0) }
        }
        // a single value serves every request
        if let first = value.list.first, first.position == value.position, let answer = answers.first {
            return .always(answer)
        }
        return .script(answers)
    }

    private func answer(_ value: Decoded) -> TestCase.Answer? {
        if let text = value.text { return .written(Self.bytes(text)) }
        guard let fields = value.fields, let body = body(fields) else { return nil }
        if let error = fields.text("error").flatMap(TestCase.Failure.init) {
            if fields.written.count > 1 {
                findings.error(fields.position, "with error there is no response; remove the other keys")
            }
            return .fails(error)
        }
        let status = fields.number("status") ?? 200
        let start = "HTTP/1.1 \(status) \(ReasonPhrase.of(status))"
        return .message(Self.written(start, lines(fields), body, tellsLength: status != 204 && status != 304))
    }

    // MARK: expectations

    private func sent(_ field: Fields.Field?) -> Placed<[MessageExpectation]>? {
        guard let field else { return nil }
        let items = field.value.list
        if items.count > 1, let none = items.first(where: { $0.text != nil }) {
            findings.error(none.position, "none must be the only entry")
        }
        return placed(field, items.compactMap { $0.fields.map(expectation) })
    }

    private func reception(_ value: Decoded) -> TestCase.Reception {
        value.fields.map { .message(expectation($0)) } ?? .none
    }

    private func expectation(_ fields: Fields) -> MessageExpectation {
        func text(_ key: String) -> Placed<ExpectedText>? {
            placed(
                fields.field(key),
                fields[key].flatMap { value in
                    value.text.flatMap { expected($0, value.position, value.written) }
                })
        }
        var message = MessageExpectation(place: place(fields.position))
        message.method = placed(fields.field("method"), fields.text("method"))
        message.url = text("url")
        message.status = placed(fields.field("status"), fields.number("status"))
        message.body = text("body")
        message.isWhole = placed(fields.field("whole"), fields.flag("whole"))
        for field in fields.fields("headers")?.all ?? [] {
            guard let json = field.value.json, let lines = lines(json, field) else { continue }
            message.headers.append((field.name, Placed(place: place(field.position), value: lines)))
        }
        for field in fields.fields("json")?.all ?? [] {
            guard let pointer = JSONPointer(field.name), let json = field.value.json else { continue }
            message.json.append((pointer, Placed(place: place(field.position), value: json)))
        }
        message.absentJSON = fields.list("json_absent").compactMap { item in
            item.text.flatMap { JSONPointer($0) }.map { Placed(place: place(item.position), value: $0) }
        }
        return message
    }

    private func lines(_ json: JSONValue, _ field: Fields.Field) -> MessageExpectation.Lines? {
        func one(_ value: JSONValue) -> ExpectedText? {
            switch value {
            case .string(let text): return expected(text, field.value.position, text)
            case .number(let text): return expected(text, field.value.position, text)
            case .bool(let flag): return expected("\(flag)", field.value.position, "\(flag)")
            case .null, .array, .object:
                findings.error(field.value.position, "\(field.name) takes a text, null, or a list of texts")
                return nil
            }
        }
        switch json {
        case .null: return .absent
        case .array(let items): return .all(items.compactMap(one))
        default: return one(json).map { .one($0) }
        }
    }

    private func expected(_ text: String, _ position: Position, _ written: String) -> ExpectedText? {
        if text.hasPrefix("~") {
            let reader = RuleReader(findings: findings, owner: source.file)
            let pattern = reader.pattern(text, position, written, "expect")
            return pattern.map { ExpectedText(written: text, matcher: .pattern($0)) }
        }
        return ExpectedText(written: text, matcher: Glob.isGlob(text) ? .glob(text) : .exact(text))
    }
}

extension Fields {
    fileprivate func field(_ name: String) -> Field? { all.first { $0.name == name } }
}
