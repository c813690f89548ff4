internal import Formats

/// Redacts secrets that are named in any text: invalid JSON, a page, the parts of a form, a script.
extension MessageRedactor {
    /// Redacts the values of secret names: `"name": "value"`, `name: value`, `name=value`, in and between tags, and in parts of a
    /// form; and the users in URLs.
    mutating func scanned(_ text: [UInt8], _ depth: Int) -> [UInt8] {
        aliases.steps.spend(text.count)
        let places = TextScan(text, names, &aliases.steps).places
        guard !places.isEmpty else { return text }
        var out: [UInt8] = []
        var copied = 0
        for place in places where place.range.lowerBound >= copied && !place.range.isEmpty {
            out += text[copied..<place.range.lowerBound]
            put(text[place.range], place.meaning, depth, &out)
            copied = place.range.upperBound
        }
        return out + text[copied...]
    }

    /// Writes the replacement of a value with this meaning.
    mutating func put(_ value: ArraySlice<UInt8>, _ meaning: SecretMeaning, _ depth: Int, _ out: inout [UInt8]) {
        switch meaning {
        case .secret(let kind): put(value, kind, &out)
        case .credentials: credentials(value, &out)
        case .cookies: cookies(value, &out)
        case .setCookie: setCookie(value, &out)
        case .url: out += depth < Self.deepest ? nested(Array(value), depth + 1) : url(value, Self.deepest)
        case .user: user(value, &out)
        }
    }
}
