public import Formats
internal import HTTPCodec
internal import Interception
internal import Journal

/// Keeps secrets out of records (docs/protocol.md#what-is-secret). It alone decides which parts of a URL, a tree or a sentence a
/// log may show.
public final class Redaction: Sendable {
    let harmless: HarmlessNames
    let names: SecretNames
    let finder: MessageRedactor
    private let secrets: SecretTexts

    /// The most bytes of a parameter's name and value; longer ones are redacted.
    private static let longestName = 64
    private static let longestValue = 128

    /// The fewest bytes of a reference's value that is searched for.
    public static var shortestSecret: Int { SecretTexts.shortest }

    public init(_ settings: Settings) {
        harmless = HarmlessNames(settings.disclosure.parameters)
        names = SecretNames(
            sessionCookies: settings.servers.map(\.cookie), more: settings.disclosure.secretNames)
        finder = MessageRedactor(names)
        secrets = SecretTexts(settings.disclosure.secrets)
    }

    // MARK: words

    /// A sentence without the values of the configuration's references.
    public func text(_ text: String) -> String {
        guard !secrets.isEmpty else { return text }
        var bytes = Array(text.utf8)
        secrets.remove(from: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A document with its strings redacted likewise.
    public func document(_ value: JSONValue) -> JSONValue {
        guard !secrets.isEmpty else { return value }
        return switch value {
        case .string(let string): .string(text(string))
        case .array(let items): .array(items.map(document))
        case .object(let members): .object(members.map { .init($0.name, document($0.value)) })
        case .null, .bool, .number: value
        }
    }

    /// The tree that a client named. An advice in its place becomes its type, and a text that is no name is redacted.
    func tree(_ payload: ActionPayload?) -> String? {
        guard let tree = payload?.tree else { return nil }
        if let type = payload?.type, ASCII.equal(type, "composite_advice") { return "composite_advice" }
        return name(tree)
    }

    /// The realm that a client named, in the path or as a parameter.
    func realm(_ realm: String?) -> String? { realm.map(name) }

    private func name(_ text: String) -> String {
        let isName =
            text.utf8.count <= Self.longestName
            && text.utf8.allSatisfy { ASCII.isUnreserved($0) || $0 == ASCII.space || $0 == 0x2F || $0 == ASCII.colon }
        return isName ? self.text(text) : SecretTexts.replacement.description
    }

    /// The client's Referer and User-Agent.
    func provenance(of fields: borrowing FieldTable) -> Provenance {
        var referer: [UInt8] = []
        // redacts a Referer that is no URL
        if let text = fields["Referer"] {
            if let head = try? RequestHead(method: "GET", url: text) {
                appendURL(of: head, to: &referer)
            } else {
                referer += SecretTexts.replacement.description.utf8
            }
        }
        let agent = fields["User-Agent"].map { Array(self.text(String($0.prefix(Self.longestAgent))).utf8) } ?? []
        return Provenance(referer: referer, userAgent: agent)
    }

    private static let longestAgent = 512

    // MARK: URLs

    /// The URL of a call by Usher.
    func url(of head: borrowing RequestHead) -> String {
        var out: [UInt8] = []
        appendURL(of: head, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the request's URL as the client sent it, in ASCII. Only parameters with harmless names show their values.
    func appendURL(of head: borrowing RequestHead, to out: inout [UInt8]) {
        let start = out.count
        let target = head.target
        let bytes = head.fields.bytes.span
        var text = URLText()
        swap(&text.out, &out)
        if target.form == .authority {
            text.keep(target.authority.indices, of: bytes)
        } else {
            text.put(target.scheme == .http ? "http://" : "https://", bytes)
            text.keep(target.authority.indices, of: bytes)
            // OPTIONS * addresses the whole server, whose URL has no path (RFC 9112 §3.3)
            if target.form != .asterisk { appendPath(target.path.indices, of: bytes, to: &text) }
            if let query = target.query {
                // the question mark before it
                text.keep(query.lower - 1..<query.lower, of: bytes)
                appendParameters(query.indices, of: bytes, to: &text)
            }
        }
        text.finish(bytes)
        swap(&text.out, &out)
        secrets.remove(from: &out, behind: start)
    }

    private static let equals: UInt8 = 0x3D
    private static let semicolon: UInt8 = 0x3B
    private static let slash: UInt8 = 0x2F

    /// Redacts parameters after a semicolon (RFC 3986 §3.3), the segment after `sessions` or `tokens`, and tokens anywhere.
    private func appendPath(_ path: Range<Int>, of bytes: Span<UInt8>, to text: inout URLText) {
        guard Self.mayHide(path, of: bytes) else { return text.keep(path, of: bytes) }
        var start = path.lowerBound
        var isToken = false
        while start <= path.upperBound {
            let end = bytes.near(start, path.upperBound) { $0.equal(to: Self.slash) }
            let nameEnd = bytes.near(start, end) { $0.equal(to: Self.semicolon) }
            let name = (start..<nameEnd).map { bytes[$0] }
            if isToken && !name.isEmpty || SecretShape.isIn(name) {
                text.put(SecretTexts.replacement, bytes)
            } else {
                text.keep(start..<nameEnd, of: bytes)
            }
            isToken = SecretNames.holdsTokens(name[...])
            if nameEnd < end {
                text.keep(nameEnd..<nameEnd + 1, of: bytes)
                appendParameters(nameEnd + 1..<end, of: bytes, to: &text)
            }
            if end < path.upperBound { text.keep(end..<end + 1, of: bytes) }
            start = end + 1
        }
    }

    /// Part of the path may need redaction. One quick look clears most paths.
    private static func mayHide(_ path: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        let sign = bytes.first(path.lowerBound, path.upperBound) {
            $0.equal(to: semicolon) | $0.equal(to: 0x25) | $0.equal(to: 0x2A)
        }
        if sign < path.upperBound { return true }
        var place = path.lowerBound
        while place < path.upperBound {
            place = bytes.near(place, path.upperBound) { $0.equal(to: slash) } + 1
            guard place + shortestHidden < path.upperBound else { return false }
            // matches `sessions`, `tokens`, `eyJ`, `AQIC`
            switch (bytes[place] | 0x20, bytes[place + 1] | 0x20, bytes[place + 2] | 0x20) {
            case (0x73, 0x65, 0x73), (0x74, 0x6F, 0x6B), (0x65, 0x79, 0x6A), (0x61, 0x71, 0x69): return true
            default: break
            }
        }
        return false
    }

    private static let shortestHidden = 7

    private func appendParameters(_ query: Range<Int>, of bytes: Span<UInt8>, to text: inout URLText) {
        var start = query.lowerBound
        while start <= query.upperBound {
            let nameEnd = bytes.near(start, query.upperBound) {
                $0.equal(to: 0x26) | $0.equal(to: Self.semicolon) | $0.equal(to: Self.equals)
            }
            let end = bytes.near(nameEnd, query.upperBound) { $0.equal(to: 0x26) | $0.equal(to: Self.semicolon) }
            appendParameter(start..<nameEnd, upTo: end, of: bytes, to: &text)
            if end < query.upperBound { text.keep(end..<end + 1, of: bytes) }
            start = end + 1
        }
    }

    private func appendParameter(
        _ name: Range<Int>, upTo end: Int, of bytes: Span<UInt8>, to text: inout URLText
    ) {
        guard name.lowerBound < end else { return }
        let hasValue = name.upperBound < end
        let value = (hasValue ? name.upperBound + 1 : end)..<end
        // nearly all names have only letters, digits and hyphens
        let isPlain = bytes.near(name.lowerBound, name.upperBound) { $0.outsideNames } == name.upperBound
        let isHarmless = isPlain ? harmless.contains(plain: name, of: bytes) : harmless.contains(name, of: bytes)
        // base64 tokens end in equals signs, and some programs add one to a bare token; a name without one is a value
        let isNamed = hasValue && value.isEmpty && Self.isWords(name, of: bytes)
        let isBare = value.allSatisfy { bytes[$0] == Self.equals } && !isNamed
        if isHarmless || !isBare && (isPlain ? name.count <= Self.longestName : Self.isName(name, of: bytes)) {
            text.keep(name, of: bytes)
        } else if !name.isEmpty {
            text.put(SecretTexts.replacement, bytes)
        }
        if hasValue { text.keep(name.upperBound..<name.upperBound + 1, of: bytes) }
        guard !value.isEmpty else { return }
        guard isHarmless, value.count <= Self.longestValue else { return text.put(SecretTexts.replacement, bytes) }
        let open = Self.open(value, of: bytes)
        text.keep(value.lowerBound..<open, of: bytes)
        if open < value.upperBound { text.put(SecretTexts.replacement, bytes) }
    }

    private static let longestWords = 32

    /// The text consists of words, as `redirect_uri` and `redirectUri` do; a token does not.
    private static func isWords(_ name: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        guard name.count <= longestWords, ASCII.isAlpha(bytes[name.lowerBound]) else { return false }
        // a capital starts a word of at least three letters
        var run = 2
        for index in name {
            let byte = bytes[index]
            if byte >= 0x61, byte <= 0x7A {
                run += 1
            } else {
                guard run > 1, byte == 0x5F || byte == 0x2D || byte >= 0x41 && byte <= 0x5A else { return false }
                run = byte == 0x5F || byte == 0x2D ? 2 : 0
            }
        }
        return run > 1
    }

    /// The text is spelled like a parameter name, percent-encoded or not; free text and documents are not.
    private static func isName(_ name: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        guard name.count <= longestName else { return false }
        var index = name.lowerBound
        while index < name.upperBound {
            var byte = bytes[index]
            index += 1
            if byte == 0x25, index + 1 < name.upperBound, let high = ASCII.hexValue(bytes[index]),
                let low = ASCII.hexValue(bytes[index + 1])
            {
                byte = high << 4 | low
                index += 2
            }
            switch byte {
            case 0x24, 0x3A, 0x40, 0x5B, 0x5D: continue
            default: guard ASCII.isUnreserved(byte) else { return false }
            }
        }
        return true
    }

    /// The end of the harmless beginning of a value. A URL in it may have a query or fragment, encoded or not, or a user before
    /// an @.
    private static func open(_ value: Range<Int>, of bytes: Span<UInt8>) -> Int {
        // skips letters, digits and hyphens
        var index = bytes.near(value.lowerBound, value.upperBound) { $0.outsideNames }
        var end: Int?
        while index < value.upperBound {
            var byte = bytes[index]
            var next = index + 1
            if byte == 0x25, index + 2 < value.upperBound, let high = ASCII.hexValue(bytes[index + 1]),
                let low = ASCII.hexValue(bytes[index + 2])
            {
                byte = high << 4 | low
                next = index + 3
            }
            switch byte {
            case 0x40: return value.lowerBound
            case 0x3F, 0x23, 0x26, 0x3B, 0x3D, 0x25: end = end ?? index
            default: break
            }
            index = next
        }
        return end ?? value.upperBound
    }
}
