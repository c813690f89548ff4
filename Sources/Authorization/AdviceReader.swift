public import HTTPCodec
public import Interception

/// Finds the advice in a response (sdk-protocol.md §3.3). Whatever is malformed is no advice.
public enum AdviceReader {
    /// Whether the body of such a response could be an advice and so has to be seen whole. False where the fields
    /// already carry one.
    public static func needsBody(status: Int, fields: FieldTable) -> Bool {
        guard [200, 401, 403].contains(status), isJSON(fields), isPlain(fields) else { return false }
        if fields["Content-Length"] == "0" { return false }
        return header(status, fields) == nil
    }

    /// The advice of a response, by precedence from a challenge, a redirect or the body.
    /// - Parameters:
    ///   - body: the whole body; nil where it was not kept.
    ///   - server: where it is given, a redirect to another host is no advice.
    public static func read(
        status: Int, fields: FieldTable, body: [UInt8]?, server: AuthorizationServer? = nil
    ) -> Advice? {
        if let advice = header(status, fields) { return advice }
        if let advice = redirect(status, fields, server) { return advice }
        guard let body, needsBody(status: status, fields: fields) else { return nil }
        return decision(body)
    }

    // MARK: the header form

    private static func header(_ status: Int, _ fields: FieldTable) -> Advice? {
        guard status == 401 else { return nil }
        for line in fields.values(named: "WWW-Authenticate") {
            for challenge in Challenge.list(line) where ASCII.equal(challenge.scheme, "SSOADVICE") {
                guard let text = challenge["advices"],
                    let bytes = base64(text),
                    let value = try? JSONValue(parsing: bytes), let conditions = conditions(value)
                else { continue }
                return Advice(
                    source: .header, realm: challenge["realm"], amURI: challenge["am_uri"], conditions: conditions)
            }
        }
        return nil
    }

    // MARK: the redirect form

    private static func redirect(_ status: Int, _ fields: FieldTable, _ server: AuthorizationServer?) -> Advice? {
        guard [301, 302, 303, 307, 308].contains(status), let location = fields["Location"] else { return nil }
        let parts = location.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let query = QueryText(parts[1])
        guard query["authIndexType"] == "composite_advice", let value = query["authIndexValue"],
            let conditions = document(value)
        else { return nil }
        let isRelative = !parts[0].contains("://") && !parts[0].hasPrefix("//")
        if let server, !isRelative, host(parts[0]) != server.host { return nil }
        return Advice(
            source: .redirect, realm: query["realm"], amURI: isRelative ? nil : String(parts[0]),
            conditions: conditions)
    }

    private static func host(_ address: Substring) -> String? {
        let url = address.hasPrefix("//") ? "https:\(address)" : String(address)
        return (try? RequestHead(method: "GET", url: url))?.host
    }

    /// Reads the spellings of the document that are in use (am-ig-server.md §5): plain, percent-encoded once or twice
    /// more, base64 in either alphabet.
    private static func document(_ value: String) -> [Advice.Condition]? {
        var text = trimmed(value)
        for _ in 0..<2 where text.hasPrefix("%") { text = trimmed(PercentCoding.decode(text, plusAsSpace: true)) }
        if text.hasPrefix("<") { return AdvicesXML.read(Array(text.utf8)) }
        return base64(text).flatMap(AdvicesXML.read)
    }

    /// Either alphabet; a `+` that somebody decoded as in a query reads back as a space.
    private static func base64(_ text: String) -> [UInt8]? {
        Base64.decode(text.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "+"))
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
        guard let value = try? JSONValue(parsing: body) else { return nil }
        for decision in value.items ?? [value] where isUndecided(decision) {
            guard let advices = decision["advices"], let conditions = conditions(advices) else { continue }
            return Advice(source: .body, conditions: conditions)
        }
        return nil
    }

    /// A decision that has its actions and grants none of them.
    private static func isUndecided(_ decision: JSONValue) -> Bool {
        guard let actions = decision["actions"] else { return false }
        if let members = actions.members { return !members.contains { $0.value.isTrue } }
        if let items = actions.items { return !items.contains { $0.isTrue } }
        return false
    }

    // MARK: conditions

    /// The lists of texts in an object; whatever else it holds is left out. Nil where nothing remains.
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
