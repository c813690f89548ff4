internal import Formats
internal import HTTPCodec

/// Replaces secrets in messages by aliases.
///
/// First it finds secrets by their names, in all parts of a message (`learn` and the other methods). Then it replaces all known
/// secrets, and those with a typical form, wherever they occur (`cleared`).
public struct MessageRedactor: Sendable {
    public internal(set) var aliases: SecretAliases
    let names: SecretNames

    /// The limit of nesting: a URL in a parameter, JSON in a JSON string.
    static let deepest = 3

    public init(_ names: SecretNames, aliases: SecretAliases = SecretAliases()) {
        self.names = names
        self.aliases = aliases
        self.aliases.watch(names.telling)
    }

    /// Registers secrets to be replaced wherever they occur.
    public mutating func learn(_ secrets: [[UInt8]]) { aliases.pin(secrets) }

    /// Whether a text may hold a secret. A quick check rules out most texts.
    func mayHold(_ text: ArraySlice<UInt8>) -> Bool { suspect(in: text, from: text.startIndex) != nil }

    /// The position of the first possible secret.
    /// - Parameter start: where a word may begin.
    func suspect(in text: ArraySlice<UInt8>, from start: Int) -> Int? { aliases.suspect(in: text, from: start) }

    /// Runs `look` with a limit of steps. Its aliases become readable through `AliasMark.settled`.
    /// - Returns: nil if the limit is exceeded, because more secrets may be left.
    mutating func within<Found>(_ bytes: Int, _ look: (inout MessageRedactor) -> Found) -> Found? {
        aliases.steps.begin(bytes)
        let found = look(&self)
        return aliases.steps.isSpent ? nil : found
    }

    /// Whether a text contains a secret, by a name or by its form.
    public func finds(in text: [UInt8]) -> Bool {
        guard mayHold(text[...]) else { return false }
        var copy = self
        return copy.within(text.count) { $0.aliases.cleared($0.nested(text, 0)) } != text
    }

    /// Redacts a text inside another one, whatever its format.
    mutating func nested(_ text: [UInt8], _ depth: Int) -> [UInt8] {
        guard depth <= Self.deepest, !aliases.steps.isSpent, mayHold(text[...]) else { return text }
        if Self.looksLikeJSON(text) { return nestedJSON(text, depth) }
        return scanned(Self.looksLikeURL(text) ? url(text[...], depth) : text, depth)
    }

    mutating func put(_ value: some Collection<UInt8>, _ kind: SecretKind, _ out: inout [UInt8]) {
        guard !value.isEmpty, !aliases.steps.isSpent else { return }
        // it is an alias already
        if AliasMark.isWhole(value) { out += value } else { AliasMark.write(aliases.alias(of: value, kind), to: &out) }
    }

    // MARK: heads

    /// Redacts a line of a head: `name: value` with CR and LF.
    mutating func field(_ line: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        guard let colon = line.firstIndex(of: ASCII.colon) else {
            out += line
            return
        }
        let name = line[..<colon].map(ASCII.lower)
        let content = line[(colon + 1)...]
        let start = content.firstIndex { $0 != ASCII.space && $0 != ASCII.tab } ?? content.endIndex
        let end = content.lastIndex { $0 != 0x0D && $0 != 0x0A && $0 != ASCII.space && $0 != ASCII.tab }
        let value = content[start..<max(start, end.map { $0 + 1 } ?? start)]
        out += line[..<value.startIndex]
        defer { out += line[value.endIndex...] }
        if let meaning = names.meaning(name) { return put(value, meaning, 0, &out) }
        switch String(decoding: name, as: UTF8.self) {
        case "www-authenticate": challenge(value, &out)
        case "location", "content-location", "referer": out += scanned(url(value, 0), 0)
        case "sec-websocket-protocol": protocols(value, &out)
        default: out += nested(Array(value), 0)
        }
    }

    /// Redacts credentials (RFC 9110 §11.4); the scheme stays.
    mutating func credentials(_ value: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        guard let space = value.firstIndex(of: ASCII.space) else { return put(value, .secret, &out) }
        out += value[...space]
        let scheme = String(decoding: value[..<space].map(ASCII.lower), as: UTF8.self)
        let kind: SecretKind =
            switch scheme {
            case "bearer", "dpop": .token
            case "basic": .password
            default: .secret
            }
        put(value[(space + 1)...], kind, &out)
    }

    /// Redacts tokens in WebSocket subprotocols. Browsers can send them in no other field.
    private mutating func protocols(_ value: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        var isBehindName = false
        for (index, part) in value.split(separator: 0x2C, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { out.append(0x2C) }
            let word = part.drop { $0 == ASCII.space || $0 == ASCII.tab }
            out += part[..<word.startIndex]
            // `bearer, TOKEN`, and `bearer.TOKEN`
            let names = word.split(separator: 0x2E).filter { self.names.meaning($0) != nil }
            if isBehindName && names.isEmpty || names.first.map({ $0.count < word.count }) == true
                || word.count >= Self.longestProtocol
            {
                put(word, .token, &out)
            } else {
                out += word
            }
            isBehindName = !names.isEmpty || isBehindName && word.count < SecretAliases.shortest
        }
    }

    private static let longestProtocol = 40

    mutating func cookies(_ value: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        var rest = value
        while true {
            let end = Self.endOfPair(rest)
            cookie(rest[..<end], &out)
            guard end < rest.endIndex else { return }
            out.append(0x3B)
            rest = rest[(end + 1)...]
        }
    }

    /// The end of a cookie pair. A `;` in quotes does not end it.
    private static func endOfPair(_ text: ArraySlice<UInt8>) -> Int {
        let end = text.firstIndex(of: 0x3B) ?? text.endIndex
        guard let equals = text[..<end].firstIndex(of: 0x3D), equals + 1 < end, text[equals + 1] == 0x22,
            let quote = text[(equals + 2)...].firstIndex(of: 0x22)
        else { return end }
        return text[quote...].firstIndex(of: 0x3B) ?? text.endIndex
    }

    /// Redacts the first pair, which is the cookie. Attributes follow, and more cookies if several fields were joined.
    mutating func setCookie(_ value: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        var end = Self.endOfPair(value)
        cookie(value[..<end], &out)
        while let comma = value[end...].firstIndex(of: 0x2C) {
            let start = value[(comma + 1)...].firstIndex { $0 != ASCII.space } ?? value.endIndex
            out += value[end..<start]
            end = start
            // a date contains a comma too
            let name = value[start...].prefix { ASCII.isToken($0) }
            guard !name.isEmpty, name.endIndex < value.endIndex, value[name.endIndex] == 0x3D else { continue }
            end = Self.endOfPair(value[start...])
            cookie(value[start..<end], &out)
        }
        out += value[end...]
    }

    /// Redacts one cookie. Without a name, the whole pair is the value.
    private mutating func cookie(_ pair: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        let start = pair.firstIndex { $0 != ASCII.space && $0 != ASCII.tab } ?? pair.endIndex
        guard let equals = pair.firstIndex(of: 0x3D) else {
            out += pair[..<start]
            // a short word such as `flag` is an attribute or plain text
            let word = pair[start...]
            if word.count < SecretAliases.shortest { out += word } else { put(word, .cookie, &out) }
            return
        }
        out += pair[...equals]
        let value = pair[(equals + 1)...]
        if let kind = names.cookieKind(pair[start..<equals], value) { put(value, kind, &out) } else { out += value }
    }

    // MARK: bodies

    /// Decodes a body and replaces the secrets that its names reveal.
    /// - Parameters:
    /// - body: the body as received.
    /// - isCut: true if it is truncated.
    /// - fields: the fields of the same message.
    /// - limit: of the result in bytes.
    /// - Returns: an empty body if it cannot be read, because its secrets are unknown; `isCut` if it is incomplete.
    mutating func body(
        _ body: ArraySlice<UInt8>, isCut: Bool, _ fields: FieldLines, limit: Int
    ) -> (bytes: [UInt8], isCut: Bool) {
        guard let plain = BodyText.plain(body, isCut: isCut, fields, limit) else { return ([], true) }
        let type = fields.text("content-type").flatMap { MediaType($0) }
        if type?.isMedia == true, !BodyText.isText(plain) { return (plain, isCut) }
        guard var bytes = BodyText.readable(plain) else { return ([], true) }
        if isCut { bytes.removeLast(bytes.count - BodyText.lastEnd(bytes)) }
        guard mayHold(bytes[...]) else { return (bytes, isCut) }
        // whatever its type: programs send JSON as forms
        if Self.looksLikeJSON(bytes) || type?.isJSON == true {
            // a member has no meaning without its object, so invalid JSON is dropped
            guard let made = json(bytes, 0) else { return ([], true) }
            return (made.bytes, isCut || made.end < bytes.count)
        }
        return (scanned(type?.isForm == true ? pairs(bytes[...], 0) : bytes, 0), isCut)
    }

    // MARK: any text: invalid JSON, a page, the parts of a form, a script

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
