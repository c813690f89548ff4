internal import Declaration
internal import Formats
internal import Interception
internal import ProxyCore

/// Substitutes `${credential.NAME}`, `${env.NAME}` and `${file:PATH}` in values. `$${` stands for a literal `${`. Substituted
/// text never appears in messages and is not searched for further references.
struct Secrets {
    /// The largest secret file, in bytes.
    static let maxBytes = 64 << 10

    let environment: [String: String]
    /// The folder of each configuration file, which is the base of its relative paths; empty for the current folder.
    let folders: [String]
    let readFile: FileReading
    let findings: Findings
    let variables: ReadVariables
    var missing = MissingSecrets.refused
    let collector = SecretCollector()

    /// Substitutes the references; nil if one cannot be resolved. Errors are recorded as findings.
    /// - Parameter isPublic: true if the value is an address or a name, so that an environment variable in it is no secret.
    func resolve(_ text: String, at position: Position, isPublic: Bool = false) -> String? {
        guard Self.mayRefer(text) else { return text }
        return parts(text, at: position, isPublic: isPublic, leavesPlaces: false).map { Self.joined($0) }
    }

    /// Joins the parts of a text, with a replacement for each variable.
    static func joined(_ parts: [TextPart], places: (Int) -> String = { _ in "" }) -> String {
        var number = 0
        return parts.map { part in
            if case .text(let text) = part { return text }
            number += 1
            return places(number - 1)
        }.joined()
    }

    /// Splits a text and substitutes its references; nil if one cannot be resolved. Errors are recorded as findings.
    /// - Parameter leavesPlaces: true to keep other variables for the exchanges to fill in.
    func parts(_ text: String, at position: Position, isPublic: Bool, leavesPlaces: Bool) -> [TextPart]? {
        guard Self.mayRefer(text) else { return [.text(text)] }
        var parts: [TextPart] = []
        var out = ""
        var rest = text[...]
        var isComplete = true
        while let dollar = rest.firstIndex(of: "$") {
            let after = rest[rest.index(after: dollar)...]
            if after.hasPrefix("${") {
                out += rest[..<dollar] + "${"
                rest = after.dropFirst(2)
            } else if after.hasPrefix("{") {
                out += rest[..<dollar]
                guard let end = after.firstIndex(of: "}") else {
                    findings.error(position, "\"${\" is not closed by \"}\"; write $${ for \"${\" itself")
                    return nil
                }
                let reference = after[..<end].dropFirst()
                if leavesPlaces, !Self.sources.contains(where: reference.hasPrefix) {
                    if !out.isEmpty { parts.append(.text(out)) }
                    out = ""
                    parts.append(.place(String(reference)))
                } else if let value = value(of: reference, position) {
                    if !isPublic || !reference.hasPrefix("env.") { collector.keep(value) }
                    // many environment variables are no secrets
                    if !isPublic, !reference.hasPrefix("env.") { judge(value, reference, position) }
                    out += value
                } else {
                    isComplete = false
                }
                rest = after[after.index(after: end)...]
            } else {
                out += rest[...dollar]
                rest = after
            }
        }
        out += rest
        if !out.isEmpty || parts.isEmpty { parts.append(.text(out)) }
        return isComplete ? parts : nil
    }

    private static func mayRefer(_ text: String) -> Bool { text.utf8.contains(0x24) }

    private static let sources = ["env.", "credential.", "file:"]

    /// Warns of secrets that are too short: redaction would find them in unrelated words and numbers.
    private func judge(_ value: String, _ reference: Substring, _ position: Position) {
        guard value.utf8.count < Redaction.shortestSecret else { return }
        findings.warning(
            position,
            "${\(reference)} holds fewer than \(Redaction.shortestSecret) bytes; it is too short to be redacted in "
                + "the log, and easy to guess; make it longer"
        )
    }

    private func value(of reference: Substring, _ position: Position) -> String? {
        switch source(of: reference, position) {
        case nil: return nil
        case .text(let text): return text
        case .missing(let what): return standIn(what, position)
        case .file(let file):
            if let words = fault(file, mayBeAbsent: true) { return standIn("\(file.subject) \(words)", position) }
            guard var bytes = content(file, position) else { return nil }
            Self.trimLineBreak(&bytes)
            guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
                findings.error(position, "\(file.subject) is not UTF-8 text")
                return nil
            }
            return text
        }
    }

    // MARK: missing secrets

    /// - Parameter what: the secret and the reason: `the environment variable TOKEN is not set`.
    private func standIn(_ what: String, _ position: Position) -> String {
        let (text, isFirst) = collector.standIn(for: what)
        findings.excuse(position)
        if isFirst { findings.note(position, "\(what); usher serve and usher run need it") }
        return text
    }

    func note(_ what: String, _ position: Position) { _ = standIn(what, position) }

    /// Notes that a file is missing, if that is permitted.
    /// - Parameter mayBeAbsent: false for a literal path, which is likely misspelt if there is no such file.
    func isMissing(_ file: SecretFile, _ position: Position, mayBeAbsent: Bool = false) -> Bool {
        guard let words = fault(file, mayBeAbsent: mayBeAbsent) else { return false }
        note("\(file.subject) \(words)", position)
        return true
    }

    /// The reason why a file cannot be read, if that is permitted.
    private func fault(_ file: SecretFile, mayBeAbsent: Bool) -> String? {
        guard missing == .noted else { return nil }
        do throws(FileFault) {
            _ = try readFile(file.path)
            return nil
        } catch {
            return error == .forbidden || mayBeAbsent && error == .missing ? error.explanation : nil
        }
    }

    // MARK: sources

    /// The source of a reference's value.
    enum Source {
        case text(String)
        case file(SecretFile)
        /// The secret is missing for this reason, which is permitted.
        case missing(String)
    }

    struct SecretFile {
        /// The kind of file: `the secret file`.
        var kind: String
        var path: String
        /// The path for messages.
        var shown: String
        var refusesWorldReadable = true

        var subject: String { "\(kind) \(shown)" }
    }

    /// - Parameter reference: the text between `${` and `}`.
    func source(of reference: Substring, _ position: Position) -> Source? {
        if reference.hasPrefix("env.") {
            let name = String(reference.dropFirst(4))
            guard !name.isEmpty else { return misspelt(reference, position) }
            guard let value = environment[name] else {
                if missing == .noted { return .missing("the environment variable \(name) is not set") }
                findings.error(
                    position,
                    "the environment variable \(name) is not set; set it for usher: export \(name)=…")
                return nil
            }
            variables.add(name)
            return .text(value)
        }
        if reference.hasPrefix("credential.") {
            return credential(String(reference.dropFirst(11)), position)
        }
        if reference.hasPrefix("file:"), reference.utf8.count > 5 {
            let path = located(String(reference.dropFirst(5)), position)
            return .file(SecretFile(kind: "the secret file", path: path, shown: path))
        }
        return misspelt(reference, position)
    }

    /// A file that the configuration names. Messages show its path as written if a substitution was involved.
    func file(_ kind: String, _ text: String, _ value: Decoded) -> SecretFile {
        let path = located(text, value.position)
        return SecretFile(kind: kind, path: path, shown: value.written.contains("${") ? value.written : path)
    }

    /// The folder of the file that a position is in; empty for the current folder.
    func folder(of position: Position) -> String {
        folders.indices.contains(position.file) ? folders[position.file] : ""
    }

    /// Resolves a path relative to its configuration file.
    private func located(_ path: String, _ position: Position) -> String {
        let folder = folder(of: position)
        return path.hasPrefix("/") || folder.isEmpty ? path : "\(folder)/\(path)"
    }

    private func credential(_ name: String, _ position: Position) -> Source? {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            findings.error(position, "the name of a credential is a file name without folders: ${credential.NAME}")
            return nil
        }
        guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else {
            if missing == .noted {
                return .missing("the credential \(name) is missing because CREDENTIALS_DIRECTORY is not set")
            }
            findings.error(
                position,
                "the credential \(name) cannot be read because CREDENTIALS_DIRECTORY is not set; add "
                    + "LoadCredential=\(name):PATH to the systemd unit, or set the variable to a folder with the "
                    + "file \(name)"
            )
            return nil
        }
        variables.add("CREDENTIALS_DIRECTORY")
        let path = "\(folder)/\(name)"
        return .file(SecretFile(kind: "the credential", path: path, shown: path, refusesWorldReadable: false))
    }

    /// The content of a file; nil if it may not be used. Errors are recorded as findings.
    func content(_ file: SecretFile, _ position: Position) -> [UInt8]? {
        let content: FileContent
        do {
            content = try readFile(file.path)
        } catch {
            findings.error(position, "\(file.subject) \(error.explanation)")
            return nil
        }
        if file.refusesWorldReadable, content.isWorldReadable {
            findings.error(
                position, "\(file.subject) is readable for every user; fix it: chmod o-r \(file.shown)")
            return nil
        }
        guard content.bytes.count <= Self.maxBytes else {
            findings.error(position, "\(file.subject) is larger than \(Units.size(Self.maxBytes))")
            return nil
        }
        return content.bytes
    }

    /// Removes one line break at the end, which editors add.
    static func trimLineBreak(_ bytes: inout [UInt8]) {
        guard bytes.last == ASCII.lf else { return }
        bytes.removeLast()
        if bytes.last == ASCII.cr { bytes.removeLast() }
    }

    /// Reports the kind only: the rest may be part of a password that contains `${`.
    private func misspelt(_ reference: Substring, _ position: Position) -> Source? {
        if let example = TemplateNames.example(of: String(reference)) {
            findings.error(
                position,
                "\(example) works only in values of edits that take templates (usher check --print-edits); here a "
                    + "reference is ${credential.NAME}, ${env.NAME} or ${file:PATH}"
            )
            return nil
        }
        let kind = reference.prefix { $0.isLetter }
        findings.error(
            position, "a reference is ${credential.NAME}, ${env.NAME} or ${file:PATH}; write $${ for \"${\" itself",
            nearest: Nearest.name(to: String(kind), among: ["credential", "env", "file"]).flatMap {
                $0 == kind ? nil : $0
            })
        return nil
    }
}
