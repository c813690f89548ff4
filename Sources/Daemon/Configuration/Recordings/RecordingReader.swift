internal import Declaration
internal import Formats
internal import Journal
public import Recordings

/// Reads the folder of a recording: all of it, or all of its errors.
public struct RecordingReader {
    private let folder: String
    private let readFile: FileReading
    private var faults: [Diagnostic] = []

    /// Reads a folder of this machine.
    public static func load(_ folder: String) -> Result<Recording, ConfigurationFaults> {
        load(folder) { path throws(FileFault) in try DiskFile.read(path, limit: MaterialReader.maxBytes) }
    }

    public static func load(
        _ folder: String, readFile: @escaping FileReading
    ) -> Result<Recording, ConfigurationFaults> {
        var reader = RecordingReader(
            folder: folder.hasSuffix("/") ? String(folder.dropLast()) : folder, readFile: readFile)
        let recording = reader.recording()
        guard let recording, reader.faults.isEmpty else {
            return .failure(ConfigurationFaults(diagnostics: reader.faults))
        }
        return .success(recording)
    }

    private init(folder: String, readFile: @escaping FileReading) {
        (self.folder, self.readFile) = (folder, readFile)
    }

    private mutating func recording() -> Recording? {
        let findings = Findings(file: path(RecordingFiles.index))
        defer { faults += findings.diagnostics }
        guard let index = document(RecordingFiles.index, .recording, findings) else { return nil }
        if let version = index["version"], let number = version.number, number != Recording.version {
            findings.error(
                version.position,
                "the recording has version \(number), and this usher reads \(Recording.version); record it again")
            return nil
        }
        let names = index.list("exchanges")
        if index["exchanges"]?.isEmptyList == true { findings.error(index.position, "the recording has no exchange") }
        guard names.count <= Recording.most else {
            findings.error(index.position, "a recording has \(Recording.most) exchanges at most; split it")
            return nil
        }
        var known: Set<String> = []
        let exchanges = names.compactMap { name -> RecordedExchange? in
            guard let text = name.text else { return nil }
            guard Self.isName(text) else {
                findings.error(name.position, "\"\(Findings.quoted(text))\" is no name of a file in this folder")
                return nil
            }
            guard known.insert(text).inserted else {
                findings.error(name.position, "\(text) is there twice; remove one")
                return nil
            }
            return exchange(text)
        }
        guard exchanges.count == names.count, let name = index.text("name"), let recorded = Self.time(index["recorded"])
        else { return nil }
        var recording = Recording(name: name, recorded: recorded, exchanges: exchanges)
        recording.volatile = Set(index.list("volatile").compactMap(\.text))
        for field in index.fields("values")?.all ?? [] {
            guard let alias = SecretAlias(field.name), recording.aliases.contains(alias) else {
                findings.error(
                    field.position, "no exchange has the alias \"\(Findings.quoted(field.name))\"",
                    nearest: Nearest.name(to: field.name, among: recording.aliases.map(\.text)))
                continue
            }
            recording.values[alias] = field.value.text.flatMap(ValueForm.init)
        }
        return recording
    }

    private mutating func exchange(_ name: String) -> RecordedExchange? {
        let findings = Findings(file: path("\(name).yaml"))
        defer { faults += findings.diagnostics }
        guard let fields = document("\(name).yaml", .recordedExchange, findings),
            let request = fields.fields("request"), let response = fields.fields("response"),
            let sent = message(request, findings), let received = message(response, findings),
            let method = request.text("method"), let url = request["url"], let text = url.text,
            let status = response.number("status"), let at = Self.time(fields["at"])
        else { return nil }
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else {
            findings.error(url.position, "url expects a whole URL, such as https://am.example.com/am/json/authenticate")
            return nil
        }
        return RecordedExchange(
            name: name, action: fields.text("action"), tree: fields.text("tree"), at: at, method: method, url: text,
            request: sent, status: status, response: received)
    }

    private func message(_ fields: Fields, _ findings: Findings) -> RecordedMessage? {
        var message = RecordedMessage()
        for field in fields.fields("headers")?.all ?? [] {
            for value in field.value.list.compactMap(\.text) { message.fields.append((field.name, value)) }
        }
        let bodies = ["body", "json", "form", "file"].filter(fields.has)
        guard bodies.count < 2 else {
            findings.error(fields.position, "a message has one body, found \(bodies.joined(separator: " and "))")
            return nil
        }
        if let text = fields.text("body") {
            message.body = Array(text.utf8)
        } else if let json = fields["json"]?.json {
            message.body = Array(json.written.utf8)
        } else if let form = fields.fields("form") {
            // the mark of an alias stays as it is
            let pairs = form.all.map {
                "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value.text ?? "").replacing("%23", with: "#"))"
            }
            message.body = Array(pairs.joined(separator: "&").utf8)
        } else if let file = fields["file"], let name = file.text {
            guard Self.isName(name) else {
                findings.error(file.position, "file expects the name of a file in this folder")
                return nil
            }
            do throws(FileFault) {
                message.body = try readFile(path(name)).bytes
            } catch {
                findings.error(file.position, "the file \(path(name)) \(error.explanation)")
                return nil
            }
        }
        return message
    }

    private func document(_ name: String, _ shape: ObjectShape, _ findings: Findings) -> Fields? {
        let text: String?
        do throws(FileFault) {
            text = String(validating: try readFile(path(name)).bytes, as: UTF8.self)
        } catch {
            findings.error(.start, "the file \(error.explanation)")
            return nil
        }
        guard let text else {
            findings.error(.start, "the file is not UTF-8 text; save it as UTF-8")
            return nil
        }
        guard let root = YAMLReader.read(text, findings) else {
            if !findings.hasErrors { findings.error(.start, "the file is empty; record it again") }
            return nil
        }
        let secrets = Secrets(
            environment: [:], folders: [folder], readFile: { _ throws(FileFault) in throw .closed },
            findings: findings, variables: ReadVariables())
        let fields = Walker(findings: findings, secrets: secrets).object(root, shape, path: "")
        return findings.hasErrors ? nil : fields
    }

    private func path(_ name: String) -> String { folder.isEmpty ? name : "\(folder)/\(name)" }

    private static func time(_ value: Decoded?) -> Int? { value?.text.flatMap { CalendarTime.seconds(ofInternet: $0) } }

    private static func isName(_ text: String) -> Bool {
        !text.hasPrefix(".") && text.utf8.allSatisfy { $0 != 0x2F && $0 >= 0x20 && $0 != 0x7F }
    }
}
