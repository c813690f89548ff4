internal import Formats

/// JSON, and the answers to AM's callbacks in it.
extension MessageRedactor {
    /// A value is judged by each name on the way to it.
    static let stepsPerName = 4

    static func looksLikeJSON(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }) else {
            return false
        }
        return first == 0x7B || first == 0x5B
    }

    /// - Returns: nil for what is no JSON.
    mutating func wholeJSON(_ text: [UInt8], _ depth: Int) -> [UInt8]? {
        guard let siblings = JSONSiblings(text, names, &aliases.steps) else { return nil }
        var written = JSONText(text)
        do {
            try written.replaceScalars { path, value, isText in
                value.isEmpty ? nil : replacement(path, value, isText: isText, siblings, depth)
            }
        } catch {
            return nil
        }
        return written.bytes
    }

    private mutating func replacement(
        _ path: [[UInt8]], _ value: [UInt8], isText: Bool, _ siblings: JSONSiblings, _ depth: Int
    ) -> [UInt8]? {
        aliases.steps.spend(path.count * Self.stepsPerName)
        if aliases.steps.isSpent { return nil }
        if let kind = siblings.answer(path) {
            return kind.flatMap { alias(value, $0, isText: isText) }
        }
        if isText, let name = path.last {
            var out: [UInt8] = []
            if SecretNames.isAuthorization(name) { credentials(value[...], &out) }
            if name.map(ASCII.lower).elementsEqual("cookie".utf8) { cookies(value[...], &out) }
            if !out.isEmpty { return out }
        }
        if let kind = kind(path, siblings) { return alias(value, kind, isText: isText) }
        guard isText else { return nil }
        let made = nested(value, depth + 1)
        return made == value ? nil : made
    }

    /// Numbers that are called so are codes of errors, as a rule.
    private mutating func alias(_ value: [UInt8], _ kind: SecretKind, isText: Bool) -> [UInt8]? {
        guard isText || [.oneTime, .password, .secret].contains(kind) else { return nil }
        var out: [UInt8] = []
        put(value, kind, &out)
        return out
    }

    private func kind(_ path: [[UInt8]], _ siblings: JSONSiblings) -> SecretKind? {
        if path.count > 1, path[path.count - 2] == Self.transactionAdvice { return .transaction }
        if let kind = siblings.kind(path) { return kind }
        var isIndexed = true
        for name in path.reversed() {
            if let kind = names.kind(name) {
                // what is called `state`, or `session`, has whole applications below it
                if isIndexed || kind != .code && kind != .session { return kind }
            }
            if !name.allSatisfy(ASCII.isDigit) { isIndexed = false }
        }
        return nil
    }
}
