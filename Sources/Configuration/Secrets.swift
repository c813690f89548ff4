/// Puts `${credential.NAME}`, `${env.NAME}` and `${file:PATH}` into values. `$${` stands for `${` itself. What is put
/// in appears in no message.
struct Secrets {
    /// Bytes of one secret file.
    static let maxBytes = 64 << 10

    let environment: [String: String]
    /// The folder of the configuration file, which relative paths start from; empty for the current one.
    let folder: String
    let readFile: FileReading
    let findings: Findings

    /// The text with its references filled in; nil where one cannot be, which has been reported then.
    func resolve(_ text: String, at position: Position) -> String? {
        guard text.contains("${") else { return text }
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
                if let value = value(of: after[..<end].dropFirst(), position) {
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
        return isComplete ? out + rest : nil
    }

    private func value(of reference: Substring, _ position: Position) -> String? {
        if reference.hasPrefix("env.") {
            let name = String(reference.dropFirst(4))
            guard !name.isEmpty else { return misspelt(reference, position) }
            guard let value = environment[name] else {
                findings.error(
                    position,
                    "the environment variable \(name) is not set; set it where usher starts: \(name)=… usher serve")
                return nil
            }
            return value
        }
        if reference.hasPrefix("credential.") {
            return credential(String(reference.dropFirst(11)), position)
        }
        if reference.hasPrefix("file:"), reference.utf8.count > 5 {
            let written = String(reference.dropFirst(5))
            let path = written.hasPrefix("/") || folder.isEmpty ? written : "\(folder)/\(written)"
            return content(path, "the secret file \(path)", refusesWorldReadable: true, position)
        }
        return misspelt(reference, position)
    }

    private func credential(_ name: String, _ position: Position) -> String? {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            findings.error(position, "a credential's name is that of a file, without folders: ${credential.NAME}")
            return nil
        }
        guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else {
            findings.error(
                position,
                "the credential \(name) cannot be read, for CREDENTIALS_DIRECTORY is not set; put LoadCredential=\(name):PATH into the systemd unit, or set the variable to a folder that holds the file \(name)"
            )
            return nil
        }
        return content("\(folder)/\(name)", "the credential \(folder)/\(name)", refusesWorldReadable: false, position)
    }

    /// - Parameter subject: the file, for messages.
    private func content(
        _ path: String, _ subject: String, refusesWorldReadable: Bool, _ position: Position
    ) -> String? {
        let file: FileContent
        do {
            file = try readFile(path)
        } catch {
            findings.error(position, "\(subject) \(error.explanation)")
            return nil
        }
        if refusesWorldReadable, file.isWorldReadable {
            findings.error(position, "\(subject) may be read by every user; take that away: chmod o-r \(path)")
            return nil
        }
        guard file.bytes.count <= Self.maxBytes else {
            findings.error(position, "\(subject) is larger than \(Units.size(Self.maxBytes))")
            return nil
        }
        guard var text = String(validating: file.bytes, as: UTF8.self), !text.utf8.contains(0) else {
            findings.error(position, "\(subject) is no UTF-8 text")
            return nil
        }
        if text.unicodeScalars.last == "\n" {
            text.unicodeScalars.removeLast()
            if text.unicodeScalars.last == "\r" { text.unicodeScalars.removeLast() }
        }
        return text
    }

    /// Says nothing of what stands behind the kind: it may be a part of a password that holds `${`.
    private func misspelt(_ reference: Substring, _ position: Position) -> String? {
        let kind = reference.prefix { $0.isLetter }
        findings.error(
            position, "a reference is ${credential.NAME}, ${env.NAME} or ${file:PATH}; write $${ for \"${\" itself",
            nearest: Nearest.name(to: String(kind), among: ["credential", "env", "file"]).flatMap {
                $0 == kind ? nil : $0
            })
        return nil
    }
}
