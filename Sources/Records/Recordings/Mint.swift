internal import Formats
internal import HTTPCodec
internal import Journal

/// Makes the responses of a replay, with new values in place of the recorded ones.
struct Mint: Sendable {
    private let recording: Recording
    private let key: TestKey
    private let sources: [SecretAlias: ValueSources.Source]
    /// The aliases in each response.
    private let used: [[SecretAlias]]
    /// The user that tokens name.
    private let subject: String
    /// The issuer that the recorded servers name; nil if none does.
    private let issuer: String?

    private static let life = 3600

    init(_ recording: Recording, _ key: TestKey) {
        (self.recording, self.key) = (recording, key)
        sources = ValueSources(recording.exchanges).all
        used = recording.exchanges.map { exchange in
            let texts = exchange.response.fields.map { Array($0.value.utf8) } + [exchange.response.body]
            return texts.flatMap { AliasPattern($0).aliases }
        }
        let locations = recording.exchanges.lazy.compactMap { $0.response.value("Location") }
        let bodies = recording.exchanges.lazy.compactMap { try? JSONValue(parsing: $0.response.body) }
        subject = bodies.compactMap { $0["sub"]?.text }.first { AliasPattern($0.utf8).aliases.isEmpty } ?? "demo"
        issuer =
            bodies.compactMap { $0["issuer"]?.text }.first
            ?? locations.compactMap {
                QueryText(RecordedExchange.parts(of: $0).target.drop { $0 != "?" }.dropFirst())["iss"]
            }
            .first
    }

    func aliases(of exchange: Int) -> [SecretAlias] { used[exchange] }

    // MARK: values

    /// - Parameter origin: the origin that the app knows.
    func value(
        _ alias: SecretAlias, _ exchange: RecordedExchange, _ origin: String, _ conversation: Conversation, _ now: Int
    ) -> String {
        let form = recording.values[alias] ?? ValueForm(alias.kind, named: sources[alias]?.name ?? "")
        switch form {
        case .session: return "\(Self.random(18)).*AAJTSQACMDE.*"
        case .uuid: return UUIDText.random(Self.bytes(16))
        case .opaque: return Self.random(18)
        case .jwt, .id_token:
            var claims: JSONValue = [
                "iss": .string(issuer(exchange, origin)), "sub": .string(subject), "iat": .integer(now),
                "exp": .integer(now + Self.life), "jti": .string(Self.random(9)),
            ]
            if alias.kind == .authId {
                let query = QueryText(exchange.target.drop { $0 != "?" }.dropFirst())
                for name in ["authIndexType", "authIndexValue"] { claims[name] = query[name].map { .string($0) } }
                return key.token(claims)
            }
            claims["aud"] = conversation.repeated["client_id"].map { .string($0) }
            if form == .id_token {
                claims["nonce"] = conversation.repeated["nonce"].map { .string($0) }
                claims["auth_time"] = .integer(now)
            } else {
                claims["scope"] = conversation.repeated["scope"].map { .string($0) }
            }
            return key.token(claims)
        }
    }

    /// The issuer as the app knows it; without a recorded one, the URL of the endpoint without its last segment.
    private func issuer(_ exchange: RecordedExchange, _ origin: String) -> String {
        if let issuer { return issuer.replacing(exchange.origin, with: origin) }
        let path = exchange.target.prefix { $0 != "?" }
        return origin + (path.lastIndex(of: "/").map { path[..<$0] } ?? "")
    }

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }
    private static func random(_ count: Int) -> String { Base64.encode(bytes(count), urlSafe: true) }

    // MARK: responses

    /// - Parameter moved: puts the app's origin in place of the recorded one.
    func response(
        _ index: Int, _ values: [SecretAlias: String], now: Int, _ moved: @escaping (String) -> String
    ) -> RecordedMessage {
        let exchange = recording.exchanges[index]
        let shift = now - exchange.at
        func filled(_ text: String, _ coding: AliasPattern.Coding = .plain) -> String {
            moved(AliasPattern(text.utf8).filled(coding) { values[$0] })
        }
        var out = RecordedMessage()
        for field in exchange.response.fields {
            let isLocation = ASCII.equal(field.name, "Location")
            out.fields.append((field.name, filled(Self.shifted(field, shift, now), isLocation ? .percent : .plain)))
        }
        guard let json = try? JSONValue(parsing: exchange.response.body), json.members != nil || json.items != nil
        else {
            let text = String(validating: exchange.response.body, as: UTF8.self)
            out.body =
                text.map { Array(filled($0, exchange.response.isForm ? .percent : .plain).utf8) }
                ?? exchange.response.body
            return out
        }
        var document = Self.mapped(json, "", shift) { filled($0) }
        if json["keys"]?[0]?["kty"] != nil { document = key.keySet }
        if document["id_token_signing_alg_values_supported"] != nil {
            document["id_token_signing_alg_values_supported"] = ["ES256"]
        }
        out.body = Array(document.written.utf8)
        return out
    }

    private static let times: Set<String> = ["exp", "iat", "nbf", "auth_time"]

    /// The value with filled texts and later times.
    private static func mapped(
        _ value: JSONValue, _ name: String, _ shift: Int, _ filled: (String) -> String
    ) -> JSONValue {
        switch value {
        case .object(let members):
            return .object(members.map { .init($0.name, mapped($0.value, $0.name, shift, filled)) })
        case .array(let items): return .array(items.map { mapped($0, name, shift, filled) })
        case .string(let text):
            guard let time = CalendarTime.seconds(ofInternet: text), time + shift > 0 else {
                return .string(filled(text))
            }
            // with the fraction as it was
            return .string("\(CalendarTime(time + shift).internet.dropLast())\(text.dropFirst(19))")
        case .number where times.contains(name): return value.integer.map { .integer($0 + shift) } ?? value
        default: return value
        }
    }

    private static func shifted(_ field: (name: String, value: String), _ shift: Int, _ now: Int) -> String {
        func date(_ text: some StringProtocol) -> String? {
            CalendarTime.seconds(ofHTTP: text, now: now).map { CalendarTime(max(0, $0 + shift)).http }
        }
        switch ASCII.lowercased(field.name) {
        // the date of a cookie that is deleted stays in the past
        case "set-cookie":
            let parts = field.value.split(separator: ";", omittingEmptySubsequences: false).map { part in
                let trimmed = part.drop { $0 == " " }
                guard ASCII.lowercased(trimmed.prefix(8)) == "expires=",
                    let time = CalendarTime.seconds(ofHTTP: trimmed.dropFirst(8), now: now), time + shift > now
                else { return String(part) }
                return " Expires=\(CalendarTime(time + shift).http)"
            }
            return parts.joined(separator: ";")
        case "expires", "last-modified": return date(field.value) ?? field.value
        default: return field.value
        }
    }

    // MARK: documents that every provider has

    /// The test key's set, and the metadata that names it, where the recording has none.
    func ownAnswer(_ target: String, _ origin: String) -> Replay.Answer? {
        let path = String(target.prefix { $0 != "?" })
        let (keys, metadata) = ("/connect/jwk_uri", "/.well-known/openid-configuration")
        let document: JSONValue
        if path.hasSuffix(keys) {
            document = key.keySet
        } else if path.hasSuffix(metadata) {
            let issuer = origin + path.dropLast(metadata.utf8.count)
            document = [
                "issuer": .string(issuer), "authorization_endpoint": .string("\(issuer)/authorize"),
                "token_endpoint": .string("\(issuer)/access_token"), "userinfo_endpoint": .string("\(issuer)/userinfo"),
                "revocation_endpoint": .string("\(issuer)/token/revoke"),
                "introspection_endpoint": .string("\(issuer)/introspect"),
                "end_session_endpoint": .string("\(issuer)/connect/endSession"),
                "jwks_uri": .string(issuer + keys), "response_types_supported": ["code"],
                "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
            ]
        } else {
            return nil
        }
        return Replay.Answer(
            status: 200,
            message: RecordedMessage(
                fields: [("Content-Type", "application/json")], body: Array(document.written.utf8)),
            name: "the test key")
    }
}
