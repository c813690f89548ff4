internal import Formats

/// Redacts JSON, with the answers to AM's callbacks.
extension MessageRedactor {
    static func looksLikeJSON(_ bytes: [UInt8]) -> Bool {
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0x1E, 0xEF, 0xBB, 0xBF].contains($0) }
        return first == 0x7B || first == 0x5B
    }

    /// Redacts as much of a text as is JSON.
    /// - Returns: the result and the end of the JSON; nil if the text does not start as JSON.
    mutating func json(_ text: [UInt8], _ depth: Int) -> (bytes: [UInt8], end: Int)? {
        var written = JSONText(text)
        let facts = JSONFacts(written, names, &aliases.steps)
        var way = JSONWay()
        let reach = written.replaceScalars { step in
            aliases.steps.spend(1)
            guard let (value, isText) = way.follow(step, { facts.judge(&$0, $1, $2, names) }) else { return nil }
            return value.isEmpty ? nil : replacement(value, isText: isText, way.last, depth)
        }
        return reach.end > 0 ? (written.bytes, reach.end) : nil
    }

    /// Redacts JSON in another text. An invalid rest is searched as text. If the rest has members, it is a secret as a whole,
    /// because their objects are unknown.
    mutating func nestedJSON(_ text: [UInt8], _ depth: Int) -> [UInt8] {
        var (out, end) = json(text, depth) ?? ([], 0)
        guard end < text.count else { return out }
        let rest = Array(text[end...])
        if Self.hasMembers(rest) { put(rest, .secret, &out) } else { out += scanned(rest, depth) }
        return out
    }

    private static func hasMembers(_ text: [UInt8]) -> Bool {
        var isQuoted = false
        for byte in text where !TextScan.isSpace(byte) {
            if isQuoted, byte == ASCII.colon { return true }
            isQuoted = byte == 0x22
        }
        return false
    }

    private mutating func replacement(
        _ value: ArraySlice<UInt8>, isText: Bool, _ place: JSONPlace, _ depth: Int
    ) -> [UInt8]? {
        if aliases.steps.isSpent { return nil }
        if let kind = place.answer { return kind.flatMap { alias(value, $0, isText: isText) } }
        let meaning = place.meaning
        if case .secret(let kind)? = meaning { return alias(value, kind, isText: isText) }
        guard isText else { return nil }
        if let meaning {
            var out: [UInt8] = []
            put(value, meaning, depth, &out)
            return out
        }
        guard mayHold(value) else { return nil }
        let made = nested(Array(value), depth + 1)
        return made[...] == value ? nil : made
    }

    /// The alias of a value. Numbers of other kinds are usually error codes and stay.
    private mutating func alias(_ value: ArraySlice<UInt8>, _ kind: SecretKind, isText: Bool) -> [UInt8]? {
        guard isText || [.oneTime, .password, .secret].contains(kind) else { return nil }
        var out: [UInt8] = []
        put(value, kind, &out)
        return out
    }
}
