import Formats
public import HTTPCodec

/// Finds the advice in a response (docs/protocol.md#advice). Malformed text is no advice. `AuthorizationPolicy.doubt` and
/// `judgement` decide whether the advice counts.
public struct AdviceReader: Sendable {
    private let forms: Advice.Forms

    /// - Parameter forms: the forms to look for; other forms are relayed as response data.
    public init(_ forms: Advice.Forms) { self.forms = forms }

    /// Limit of a body in bytes. Decisions on a thousand resources fit, and reading them does not delay others.
    public static let maxBody = 256 << 10

    /// Whether the response body may be an advice and has to be buffered whole. False if the fields already carry an advice.
    public func needsBody(status: Int, fields: FieldTable) -> Bool {
        guard forms.contains(.body), [200, 401, 403].contains(status), Self.isJSON(fields), Self.isPlain(fields) else {
            return false
        }
        if fields["Content-Length"] == "0" { return false }
        return header(status, fields) == nil
    }

    /// The advice of a response: from a challenge, else a redirect, else the body.
    /// - Parameter body: the whole body; nil if it was not buffered.
    public func read(status: Int, fields: FieldTable, body: [UInt8]?) -> Advice? {
        if let advice = header(status, fields) { return advice }
        if let advice = redirect(status, fields) { return advice }
        guard let body, needsBody(status: status, fields: fields) else { return nil }
        return Self.decision(body)
    }

    /// The reason why an announced advice cannot be read, as one sentence; nil if the response announces none. Called only for
    /// responses without an advice.
    public func flaw(status: Int, fields: FieldTable) -> String? {
        if forms.contains(.header), status == 401 {
            // a truncated challenge does not parse, but its scheme is still visible
            for line in fields.values(named: "WWW-Authenticate")
            where ASCII.equal(Substring(line.utf8.prefix { $0 != 0x20 }), Self.scheme)
                || Challenge.list(line).contains(where: { ASCII.equal($0.scheme, Self.scheme) })
            {
                return "the \(Self.scheme) challenge holds none that can be read"
            }
        }
        return redirectParts(status, fields)?.query["authIndexType"] == "composite_advice"
            ? "the redirect holds none that can be read" : nil
    }

    // MARK: the header form

    private static let scheme = "SSOADVICE"

    private func header(_ status: Int, _ fields: FieldTable) -> Advice? {
        guard forms.contains(.header), status == 401 else { return nil }
        for line in fields.values(named: "WWW-Authenticate") {
            for challenge in Challenge.list(line) where ASCII.equal(challenge.scheme, Self.scheme) {
                guard let text = challenge["advices"],
                    let bytes = Self.base64(text),
                    let value = try? JSONValue(parsing: bytes), let conditions = Self.conditions(value)
                else { continue }
                return Advice(
                    source: .header, realm: challenge["realm"], amURI: challenge["am_uri"], conditions: conditions)
            }
        }
        return nil
    }

    // MARK: the redirect form

    /// The redirect target without query and fragment, and its query; nil if it has no query.
    private func redirectParts(_ status: Int, _ fields: FieldTable) -> (place: Substring, query: QueryText)? {
        guard forms.contains(.redirect), [301, 302, 303, 307, 308].contains(status), let reference = fields["Location"]
        else { return nil }
        // split by bytes: a "?" followed by a combining mark is a different Character
        let parts = reference.utf8.prefix { $0 != 0x23 }.split(
            separator: 0x3F, maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? (Substring(parts[0]), QueryText(Substring(parts[1]))) : nil
    }

    private func redirect(_ status: Int, _ fields: FieldTable) -> Advice? {
        guard let (place, query) = redirectParts(status, fields), query["authIndexType"] == "composite_advice",
            let value = query["authIndexValue"],
            let conditions = Self.document(value)
        else { return nil }
        let location = String(place)
        let isRelative = !location.contains("://") && !location.hasPrefix("//")
        return Advice(
            source: .redirect, realm: query["realm"], amURI: isRelative ? nil : location, location: location,
            conditions: conditions)
    }

    /// Reads every spelling of the document in use (docs/protocol.md#conditions-and-their-document): plain, percent-encoded once
    /// or twice more, or base64 in either alphabet.
    private static func document(_ value: String) -> [Advice.Condition]? {
        var text = trimmed(value)
        for _ in 0..<2 where text.hasPrefix("%") { text = trimmed(PercentCoding.decode(text, plusAsSpace: true)) }
        if text.hasPrefix("<") { return AdvicesXML.read(Array(text.utf8)) }
        return base64(text).flatMap(AdvicesXML.read)
    }

    /// Decodes base64 in either alphabet. A space stands for a `+` that was decoded as in a query.
    private static func base64(_ text: String) -> [UInt8]? {
        guard text.utf8.contains(ASCII.space) else { return Base64.decode(text) }
        return Base64.decode(String(decoding: text.utf8.map { $0 == ASCII.space ? 0x2B : $0 }, as: UTF8.self))
    }

    private static func trimmed(_ text: String) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let bytes = Array(text.utf8)
        guard let start = bytes.firstIndex(where: { !isSpace($0) }), let end = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(decoding: bytes[start...end], as: UTF8.self)
    }

    // MARK: the body form

    private static func isJSON(_ fields: FieldTable) -> Bool {
        guard let value = fields["Content-Type"] else { return false }
        let type = ASCII.lowercased(value.prefix { $0 != ";" && $0 != " " && $0 != "\t" })
        return type == "application/json" || type.hasSuffix("+json")
    }

    private static func isPlain(_ fields: FieldTable) -> Bool {
        fields.values(named: "Content-Encoding").allSatisfy { ASCII.equal($0, "identity") }
    }

    private static func decision(_ body: [UInt8]) -> Advice? {
        guard body.count <= maxBody, let decisions = PolicyDecision.list(body) else { return nil }
        var transaction: [Advice.Condition]?
        for decision in decisions where !decision.grants {
            guard let conditions = conditions(decision.advices) else { continue }
            // as AM does within one decision: a transaction comes last, because it covers one access only
            if conditions.contains(where: { $0.name != Advice.transaction }) {
                return Advice(source: .body, conditions: conditions)
            }
            transaction = transaction ?? conditions
        }
        return transaction.map { Advice(source: .body, conditions: $0) }
    }

    // MARK: conditions

    /// The string lists in an object. Other members are ignored. Nil if no list remains.
    private static func conditions(_ value: JSONValue) -> [Advice.Condition]? {
        var conditions: [Advice.Condition] = []
        for member in value.members ?? [] where AdvicesXML.isConditionName(member.name) {
            guard let items = member.value.items, items.allSatisfy({ $0.text != nil }) else { continue }
            let values = items.compactMap(\.text).filter { !$0.isEmpty }
            guard !values.isEmpty else { continue }
            conditions.removeAll { $0.name == member.name }
            guard conditions.count < Advice.maxConditions else { return nil }
            conditions.append(Advice.Condition(member.name, values))
        }
        return conditions.isEmpty ? nil : conditions
    }
}
