internal import Formats
internal import HTTPCodec
internal import Interception
internal import Journal

/// Redacts the lines that interceptors write with `log`. It leaves out a value that may be a secret by its name or its looks.
extension Redaction {
    /// The most bytes of a line, and of a value in it.
    private static let longestLine = 1024
    private static let longestPart = 256

    func line(_ logged: LoggedText) -> String {
        var line = ""
        for part in logged.parts {
            switch part {
            case .text(let text): line += text
            case .value(let value, let origins): line += shown(value, origins)
            case .absent: line += "-"
            }
        }
        // redacts first, as a secret that is cut could not be found
        return Self.cut(text(line), Self.longestLine)
    }

    private func shown(_ value: String, _ origins: [ValueOrigin]) -> String {
        guard origins.allSatisfy({ mayShow(value, $0) }) else { return SecretTexts.replacement.description }
        if let url = shownURL(value) { return Self.cut(url, Self.longestPart) }
        if looksSecret(value) { return SecretTexts.replacement.description }
        var plain = String.UnicodeScalarView()
        for scalar in value.unicodeScalars { plain.append(scalar.steers ? " " : scalar) }
        return Self.cut(text(String(plain)), Self.longestPart)
    }

    private func mayShow(_ value: String, _ origin: ValueOrigin) -> Bool {
        switch origin {
        case .header(let name): !names.mayHide(name)
        case .query(let name):
            harmless.contains(plain: 0..<name.utf8.count, of: Array(name.utf8).span) && !names.mayHide(name)
        // the members of an object or a list have names of their own
        case .member(let pointer): !pointer.names.contains(where: names.mayHide) && !"{[".contains(value.first ?? " ")
        case .name: realm(value) == value
        case .code: false
        }
    }

    /// A URL as the log shows it; nil if the value is none.
    private func shownURL(_ value: String) -> String? {
        guard value.contains("://"), let head = try? RequestHead(method: "GET", url: value) else { return nil }
        return url(of: head)
    }

    /// The value looks like credentials, parameters or padded base64, or the journal counts it as a secret.
    private func looksSecret(_ value: String) -> Bool {
        let lower = ASCII.lowercased(value)
        return ["basic ", "bearer ", "dpop "].contains(where: lower.hasPrefix) || value.utf8.contains(0x3D)
            || finder.finds(in: Array(value.utf8))
    }

    /// Cuts a text to this many bytes, without splitting a character.
    private static func cut(_ text: String, _ most: Int) -> String {
        guard text.utf8.count > most else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: most)
        while end > text.startIndex, end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
        return "\(text[..<end])…"
    }
}
