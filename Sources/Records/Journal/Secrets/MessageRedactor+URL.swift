internal import Formats

/// Redacts URLs, queries and forms.
extension MessageRedactor {
    /// Redacts a URL, or its path and query. Secrets are the user's password, parameters in path, query and fragment, and the
    /// segment after `sessions`, where AM has tokens.
    mutating func url(_ text: ArraySlice<UInt8>, _ depth: Int) -> [UInt8] {
        var out: [UInt8] = []
        var rest = text
        withoutUser(&rest, &out)
        let pathEnd = rest.firstIndex { $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
        path(rest[..<pathEnd], depth, &out)
        rest = rest[pathEnd...]
        if rest.first == 0x3F {
            let end = rest.firstIndex(of: 0x23) ?? rest.endIndex
            out.append(0x3F)
            out += pairs(rest[..<end].dropFirst(), depth, isQuery: true)
            rest = rest[end...]
        }
        if rest.first == 0x23 {
            out.append(0x23)
            let fragment = rest.dropFirst()
            // single-page apps have paths and queries in the fragment
            let isPath = fragment.first == 0x2F || fragment.first == 0x21 || fragment.contains(0x3F)
            out += isPath && depth < Self.deepest ? url(fragment, depth + 1) : pairs(fragment, depth)
        }
        return out
    }

    static func looksLikeURL(_ text: [UInt8]) -> Bool {
        guard let first = text.first, !text.contains(ASCII.space), !text.contains(ASCII.lf) else { return false }
        if first == 0x2F || first == 0x3F || first == 0x23 { return true }
        guard let colon = text.prefix(32).firstIndex(of: ASCII.colon) else { return false }
        return text[..<colon].allSatisfy { ASCII.isUnreserved($0) || $0 == 0x2B }
            && text[(colon + 1)...].first.map { $0 == 0x2F || $0 == 0x5C } == true
    }

    /// Redacts the user in `https://user:password@host` and `//…`. Programs read `\` as `/` there.
    private mutating func withoutUser(_ rest: inout ArraySlice<UInt8>, _ out: inout [UInt8]) {
        let isSlash = { (byte: UInt8) in byte == 0x2F || byte == 0x5C }
        var start = rest.startIndex
        if let colon = rest.prefix(32).firstIndex(of: ASCII.colon), !rest[..<colon].contains(where: isSlash) {
            start = colon + 1
        }
        guard start + 1 < rest.endIndex, isSlash(rest[start]), isSlash(rest[start + 1]) else { return }
        start += 2
        let end = rest[start...].firstIndex { isSlash($0) || $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
        guard let at = rest[start..<end].lastIndex(of: 0x40) else { return }
        out += rest[..<start]
        user(rest[start..<at], &out)
        rest = rest[at...]
    }

    /// Redacts the password and keeps the name. A user without a colon is a token.
    mutating func user(_ user: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        guard let divide = user.firstIndex(of: ASCII.colon) else { return put(user, .password, &out) }
        out += user[...divide]
        put(user[(divide + 1)...], .password, &out)
    }

    private mutating func path(_ text: ArraySlice<UInt8>, _ depth: Int, _ out: inout [UInt8]) {
        var isToken = false
        for (index, segment) in text.split(separator: 0x2F, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { out.append(0x2F) }
            let end = segment.firstIndex(of: 0x3B) ?? segment.endIndex
            let name = segment[..<end]
            if isToken, name.count >= SecretAliases.shortest { put(name, .session, &out) } else { out += name }
            isToken = SecretNames.holdsTokens(name)
            guard end < segment.endIndex else { continue }
            out.append(0x3B)
            out += pairs(segment[(end + 1)...], depth)
        }
    }

    /// Redacts a query or form: `name=value` pairs separated by `&` or `;`. In a query, a value without a name may be a token.
    mutating func pairs(_ text: ArraySlice<UInt8>, _ depth: Int, isQuery: Bool = false) -> [UInt8] {
        aliases.steps.spend(text.count)
        var out: [UInt8] = []
        for (index, pair) in text.split(separator: 0x26, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { out.append(0x26) }
            if isQuery, Self.hasBareToken(query: pair.span) {
                put(pair, .secret, &out)
            } else {
                self.pair(pair, depth, &out)
            }
        }
        return out
    }

    /// Redacts the text between two `&`. Without a secret name, it may contain more pairs after a `;`.
    private mutating func pair(_ pair: ArraySlice<UInt8>, _ depth: Int, _ out: inout [UInt8]) {
        var rest = pair
        while true {
            let end = rest.firstIndex(of: 0x3B) ?? rest.endIndex
            if let equals = rest[..<end].firstIndex(of: 0x3D) {
                out += rest[...equals]
                let name = Self.plainName(rest[..<equals])
                // the value of a form extends beyond a `;`
                if let kind = names.kind(name) { return put(rest[(equals + 1)...], kind, &out) }
                if let made = adviceDocument(name, rest[(equals + 1)...]) {
                    out += made
                    return
                }
                inner(rest[(equals + 1)..<end], depth, &out)
            } else {
                out += rest[..<end]
            }
            guard end < rest.endIndex else { return }
            out.append(0x3B)
            rest = rest[(end + 1)...]
        }
    }

    /// Whether the query of a URL contains a token without a name.
    static func hasBareToken(_ url: ArraySlice<UInt8>) -> Bool {
        let span = url.span
        let mark = span.first(0, span.count) { $0.equal(to: 0x3F) }
        return mark < span.count && hasBareToken(query: span.extracting((mark + 1)...))
    }

    /// True if there is a long word without a name that mixes letters and digits.
    private static func hasBareToken(query: Span<UInt8>) -> Bool {
        var start = 0
        while start < query.count {
            let end = query.near(start, query.count) { $0.equal(to: 0x26) }
            if end - start >= SecretAliases.shortest, query.near(start, end, where: { $0.equal(to: 0x3D) }) == end,
                (start..<end).contains(where: { ASCII.isDigit(query[$0]) }),
                (start..<end).contains(where: { ASCII.isAlpha(query[$0]) })
            {
                return true
            }
            start = end + 1
        }
        return false
    }

    /// The name after all decoding, without surrounding blanks, as many servers read it.
    private static func plainName(_ written: ArraySlice<UInt8>) -> [UInt8] {
        var name = PercentCoding.decodeBytes(written, plusAsSpace: true)
        for _ in 0..<deepest where name.contains(0x25) { name = PercentCoding.decodeBytes(name, plusAsSpace: false) }
        guard let start = name.firstIndex(where: { $0 > ASCII.space }),
            let end = name.lastIndex(where: { $0 > ASCII.space })
        else { return [] }
        return start == 0 && end == name.count - 1 ? name : Array(name[start...end])
    }

    /// Redacts a value that may contain a text, usually a URL to go to next.
    private mutating func inner(_ value: ArraySlice<UInt8>, _ depth: Int, _ out: inout [UInt8]) {
        var text = PercentCoding.decodeBytes(value, plusAsSpace: true)
        var times = 1
        while times < Self.deepest, text.contains(0x25), !Self.isMadeOfParts(text) {
            let further = PercentCoding.decodeBytes(text, plusAsSpace: false)
            guard Self.isMadeOfParts(further) else { break }
            text = further
            times += 1
        }
        let made = text.count < SecretAliases.shortest ? text : nested(text, depth + 1)
        if made == text {
            out += value
        } else {
            out += Self.encoded(made, times)
        }
    }

    private static func isMadeOfParts(_ text: [UInt8]) -> Bool { looksLikeURL(text) || looksLikeJSON(text) }

    /// Percent-encodes the bytes repeatedly. Aliases contain nothing that changes.
    static func encoded(_ bytes: [UInt8], _ times: Int) -> [UInt8] {
        var text = String(decoding: bytes, as: UTF8.self)
        for _ in 0..<times { text = PercentCoding.encode(text) }
        return Array(text.utf8)
    }
}
