internal import Declaration
internal import TLSEngine

/// Reads keys and passwords into bytes that are overwritten after use, never into a String.
extension Secrets {
    /// - Parameter subject: the configuration key, for messages.
    func secret(_ written: String, _ kind: SecretKind, _ subject: String, at position: Position) -> KeyReference? {
        guard !Self.holdsPEM(written) else {
            findings.error(
                position,
                "\(subject) has a private key, which must not be in the configuration; move it to a separate file "
                    + "(chmod 600) and write its path"
            )
            return nil
        }
        if let reference = Self.loneReference(written) {
            switch source(of: reference, position) {
            case nil: return nil
            case .missing(let what):
                note(what, position)
                return .missing
            case .file(let file):
                if isMissing(file, position, mayBeAbsent: true) { return .missing }
                return bytes(file, position).map { .material($0) }
            case .text(let text): return secret(outOfEnvironment: text, kind, subject, position)
            }
        }
        guard case .key = kind else {
            findings.error(
                position,
                "\(subject) takes one reference and nothing else: ${credential.NAME}, ${file:PATH} or ${env.NAME}")
            return nil
        }
        guard !written.contains("${credential."), !written.contains("${file:") else {
            findings.error(
                position, "\(subject) takes a path, or one reference and nothing else: ${credential.NAME}")
            return nil
        }
        return resolve(written, at: position).flatMap { path($0, subject, position) }
    }

    /// The content of a secret file, trimmed as for text.
    func bytes(_ file: SecretFile, _ position: Position) -> SecretBytes? {
        guard var bytes = content(file, position) else { return nil }
        Self.trimLineBreak(&bytes)
        return SecretBytes(taking: &bytes)
    }

    private func secret(
        outOfEnvironment text: String, _ kind: SecretKind, _ subject: String, _ position: Position
    ) -> KeyReference? {
        if case .key = kind, !Self.holdsPEM(text) { return path(text, subject, position) }
        var bytes = Array(text.utf8)
        return .material(SecretBytes(taking: &bytes))
    }

    private func path(_ text: String, _ subject: String, _ position: Position) -> KeyReference? {
        guard TextFormat.file.accepts(text) else {
            findings.error(
                position, "\(subject) takes \(TextFormat.file.expected), or a reference such as ${credential.NAME}")
            return nil
        }
        return .path(text)
    }

    private static func holdsPEM(_ text: String) -> Bool { text.contains("-----BEGIN ") }

    /// The reference in a text that consists of exactly one reference.
    private static func loneReference(_ text: String) -> Substring? {
        guard text.hasPrefix("${"), text.hasSuffix("}") else { return nil }
        let inside = text.dropFirst(2).dropLast()
        return inside.contains("}") ? nil : inside
    }
}
