internal import Formats
internal import HTTPCodec

/// Takes the secrets out of messages and puts their aliases there.
///
/// What a message says by name is found first, in all of its parts (`learn` and the results of the rest); then whatever is
/// known by then, or tells by its form what it is, is replaced wherever it stands (`cleared`).
public struct MessageRedactor: Sendable {
    public internal(set) var aliases: SecretAliases
    let names: SecretNames

    public init(_ names: SecretNames, aliases: SecretAliases = SecretAliases()) {
        self.names = names
        self.aliases = aliases
        self.aliases.watch(names.telling)
    }

    /// Has these replaced wherever they stand, though nothing names them there.
    public mutating func learn(_ secrets: [[UInt8]]) { aliases.pin(secrets) }

    /// Whether a text may hold a secret; most hold none, which is known by one look.
    func mayHold(_ text: ArraySlice<UInt8>, isURL: Bool = false) -> Bool {
        aliases.suspect(in: text, from: text.startIndex, isURL: isURL) != nil
    }

    /// Where in the lines of a head the first secret may stand.
    /// - Parameter start: where a line begins.
    func suspect(inLines text: ArraySlice<UInt8>, from start: Int) -> Int? {
        aliases.suspect(in: text, from: start, isURL: true)
    }

    /// A text of any kind, without what is known.
    public mutating func cleared(_ text: [UInt8]) -> [UInt8] { aliases.cleared(text) }

    // MARK: URLs and forms

    /// A URL, or its path and query: the values of parameters that are named so, in query and fragment.
    public mutating func url(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var rest = text[...]
        withoutUser(&rest, &out)
        while let place = rest.firstIndex(where: { $0 == 0x3F || $0 == 0x23 }) {
            out += rest[...place]
            let behind = rest[(place + 1)...]
            let end = behind.firstIndex { $0 == 0x23 } ?? behind.endIndex
            out += pairs(behind[..<end])
            rest = behind[end...]
        }
        return out + rest
    }

    /// `https://user:password@host`.
    private mutating func withoutUser(_ rest: inout ArraySlice<UInt8>, _ out: inout [UInt8]) {
        guard let colon = rest.firstIndex(of: 0x3A), rest[colon...].starts(with: "://".utf8) else { return }
        let start = colon + 3
        let end = rest[start...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
        guard let at = rest[start..<end].lastIndex(of: 0x40) else { return }
        out += rest[..<start]
        let user = rest[start..<at]
        if let divide = user.firstIndex(of: 0x3A) {
            out += user[...divide]
            put(user[(divide + 1)...], .password, &out)
        } else {
            out += user
        }
        rest = rest[at...]
    }

    /// A query or a form: `name=value` joined by `&`.
    public mutating func pairs(_ text: some Collection<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        for (index, pair) in Array(text).split(separator: 0x26, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { out.append(0x26) }
            guard let equals = pair.firstIndex(of: 0x3D) else {
                out += pair
                continue
            }
            out += pair[...equals]
            let value = pair[(equals + 1)...]
            let name = PercentCoding.decodeBytes(pair[..<equals], plusAsSpace: true)
            if let kind = names.kind(name) {
                put(value, kind, &out)
            } else if let made = adviceDocument(name, value) {
                out += made
            } else {
                out += value
            }
        }
        return out
    }

    // MARK: heads

    /// The fields of a head: lines of `name: value`, each ended by CR and LF.
    /// - Parameter lines: without the start line and without the empty line at the end.
    public mutating func fields(_ lines: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var rest = lines[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
            field(rest[..<end], &out)
            rest = rest[end...]
        }
        return out
    }

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
        switch String(decoding: name, as: UTF8.self) {
        case "authorization", "proxy-authorization": credentials(value, &out)
        case "cookie": cookies(value, &out)
        case "set-cookie": setCookie(value, &out)
        case "www-authenticate": challenge(value, &out)
        case "location", "content-location", "referer", "refresh", "link": out += url(Array(value))
        default:
            if let kind = names.kind(name) { put(value, kind, &out) } else { out += value }
        }
    }

    /// RFC 9110 §11.4: the scheme stays.
    private mutating func credentials(_ value: ArraySlice<UInt8>, _ out: inout [UInt8]) {
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

    private mutating func cookies(_ value: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        for (index, pair) in value.split(separator: 0x3B, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { out.append(0x3B) }
            cookie(pair, &out)
        }
    }

    /// The first pair is the cookie; what follows are attributes.
    private mutating func setCookie(_ value: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        let end = value.firstIndex(of: 0x3B) ?? value.endIndex
        cookie(value[..<end], &out)
        out += value[end...]
    }

    private mutating func cookie(_ pair: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        guard let equals = pair.firstIndex(of: 0x3D) else {
            out += pair
            return
        }
        let name = pair[..<equals].drop { $0 == ASCII.space || $0 == ASCII.tab }
        out += pair[...equals]
        let value = pair[(equals + 1)...]
        if let kind = names.cookieKind(name) { put(value, kind, &out) } else { out += value }
    }

    // MARK: JSON

    /// A JSON text; one that is none comes back as it is.
    public mutating func json(_ text: [UInt8]) -> [UInt8] { wholeJSON(text) ?? text }

    /// - Returns: nil for what is no JSON.
    mutating func wholeJSON(_ text: [UInt8]) -> [UInt8]? {
        let callbacks = CallbackTypes(text)
        var written = JSONText(text)
        do {
            // what it is called with may not change what it stands in, so the aliases are made on a copy and kept
            var copy = aliases
            let names = names
            try written.replaceStrings { path, value in
                guard !value.isEmpty, let kind = callbacks.kind(path) ?? Self.kind(path, names) else { return nil }
                return Array(copy.alias(of: value, kind).text.utf8)
            }
            aliases = copy
        } catch {
            return nil
        }
        return written.bytes
    }

    private static func kind(_ path: [[UInt8]], _ names: SecretNames) -> SecretKind? {
        if path.count > 1, path[path.count - 2] == transactionAdvice { return .transaction }
        return path.last.flatMap { names.kind($0) }
    }

    mutating func put(_ value: some Collection<UInt8>, _ kind: SecretKind, _ out: inout [UInt8]) {
        guard !value.isEmpty else { return }
        aliases.alias(of: value, kind).write(to: &out)
    }
}
