internal import Formats

/// Names of fields, parameters, cookies and members of JSON whose values are secrets.
public struct SecretNames: Sendable {
    /// In lower case.
    private var kinds: [[UInt8]: SecretKind] = [:]
    private let sessionCookies: Set<[UInt8]>

    private static let usual: [SecretKind: [String]] = [
        .session: [
            "tokenid", "sessionupgradessotokenid", "ssotoken", "ssotokenid", "iplanetdirectorypro", "session_token",
            "session_id", "session", "sid", "jsessionid", "phpsessid", "authsession",
        ],
        .token: [
            "access_token", "refresh_token", "id_token", "id_token_hint", "token", "subject_token", "actor_token",
            "assertion", "client_assertion", "logout_token", "registration_access_token", "device_code", "x-idtoken",
            "_idtoken", "dpop", "x-auth-token", "jwt", "bearer", "auth_token", "samlresponse", "samlrequest",
        ],
        .code: ["code", "user_code", "code_verifier", "state", "nonce", "suspendedid"],
        .password: [
            "password", "passwd", "pwd", "passphrase", "userpassword", "currentpassword", "oldpassword", "newpassword",
            "client_secret", "x-openam-password", "idtoken2",
        ],
        .authId: ["authid"],
        .oneTime: ["otp", "totp", "onetimepassword", "pin", "x-otp", "recoverycode", "recoverycodes"],
        .transaction: ["_txid", "x-txid", "txid"],
        .secret: [
            "api_key", "x-api-key", "secret", "csrf", "csrf_token", "_csrf", "x-csrf-token", "x-xsrf-token",
            "authenticity_token", "x-amz-security-token", "x-amz-signature", "private_key", "sharedsecret",
            "authentication-info", "proxy-authentication-info",
        ],
    ]

    /// How names end that nobody listed.
    static let endings: [(name: String, kind: SecretKind)] = [
        ("password", .password), ("secret", .secret), ("token", .token),
    ]

    /// Cookies that say nothing of anybody.
    private static let harmlessCookies: Set<[UInt8]> = Set(
        ["amlbcookie", "lang", "language", "locale", "i18next", "theme", "tz", "timezone", "currency"].map {
            Array($0.utf8)
        })

    private static let longest = 64

    /// - Parameters:
    ///   - sessionCookies: the session cookies of the configured AMs.
    ///   - more: `journal.secrets`.
    public init(sessionCookies: [String] = [], more: [String] = []) {
        for (kind, names) in Self.usual {
            for name in names {
                for form in Self.forms(of: name) { kinds[form] = kind }
            }
        }
        for name in more { kinds[name.utf8.map(ASCII.lower)] = .secret }
        self.sessionCookies = Set(sessionCookies.map { $0.utf8.map(ASCII.lower) })
        for name in self.sessionCookies { kinds[name] = .session }
    }

    /// `access_token` is `access-token` in a field and `accessToken` in JSON.
    private static func forms(of name: String) -> Set<[UInt8]> {
        let bytes = Array(name.utf8)
        let inner = bytes.dropFirst()
        let joined = bytes.prefix(1) + inner.filter { $0 != 0x5F && $0 != 0x2D }
        return [
            bytes, bytes.prefix(1) + inner.map { $0 == 0x5F ? 0x2D : $0 },
            bytes.prefix(1) + inner.map { $0 == 0x2D ? 0x5F : $0 }, Array(joined),
        ]
    }

    /// All words by which a text tells that a secret may be in it, in small letters.
    var telling: [[UInt8]] {
        let legacy = (0..<1000).map { Array("idtoken\($0)".utf8) }
        let others = [
            "authorization", "cookie", "set-cookie", "callbacks", "www-authenticate", "authindexvalue",
            "transactionconditionadvice", "sessions", "sec-websocket-protocol",
        ].map { Array($0.utf8) }
        return Array(kinds.keys) + legacy + others
    }

    /// Of a field, a parameter or a member.
    func kind(_ name: some Collection<UInt8>) -> SecretKind? {
        guard name.count <= Self.longest else { return nil }
        let lower = Self.plain(name.map(ASCII.lower)[...])
        if let kind = kinds[Array(lower)] { return kind }
        if isLegacyAnswer(lower) { return .oneTime }
        return Self.endings.first {
            lower.count > $0.name.utf8.count && lower.reversed().starts(with: $0.name.utf8.reversed())
        }?
        .kind
    }

    /// What a name is about: `user[password]`, `code[]`, ` code`, `amp;code`.
    private static func plain(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var name = name.drop { $0 == ASCII.space }
        if name.starts(with: "amp;".utf8) { name = name.dropFirst(4) }
        while name.last == 0x5D, let open = name.lastIndex(of: 0x5B) {
            let inner = name[(open + 1)..<(name.endIndex - 1)]
            if !inner.isEmpty, !inner.allSatisfy(ASCII.isDigit) { return inner }
            name = name[..<open]
        }
        return name
    }

    /// `IDToken1` and its like, by which AM's own pages answer callbacks; a name stands in the first.
    private func isLegacyAnswer(_ name: ArraySlice<UInt8>) -> Bool {
        let prefix = Array("idtoken".utf8)
        return name.starts(with: prefix) && name.count > prefix.count && name.count <= prefix.count + 3
            && name.dropFirst(prefix.count).allSatisfy(ASCII.isDigit) && !name.elementsEqual(prefix + [0x31])
    }

    /// A field, or a member, with credentials as RFC 9110 §11.4 writes them.
    static func isAuthorization(_ name: some Collection<UInt8>) -> Bool {
        let wanted = "authorization".utf8
        return name.count >= wanted.count
            && zip(name.map(ASCII.lower).suffix(wanted.count), wanted).allSatisfy { $0 == $1 }
    }

    /// Of a cookie: each is a secret that is not known to be none.
    func cookieKind(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>) -> SecretKind? {
        let lower = name.map(ASCII.lower)
        if Self.harmlessCookies.contains(lower), value.count <= Self.longestHarmless,
            value.allSatisfy({ ASCII.isUnreserved($0) })
        {
            return nil
        }
        return kinds[lower] ?? .cookie
    }

    /// What says nothing of anybody is short, too.
    private static let longestHarmless = 16
}
