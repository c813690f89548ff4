internal import Formats

/// Names of fields, parameters, cookies and members of JSON whose values are secrets.
public struct SecretNames: Sendable {
    /// In lower case.
    private var kinds: [[UInt8]: SecretKind] = [:]
    private let sessionCookies: Set<[UInt8]>

    private static let usual: [SecretKind: [String]] = [
        .session: [
            "tokenid", "sessionupgradessotokenid", "ssotoken", "ssotokenid", "iplanetdirectorypro", "sessiontoken",
            "sessionid",
            "session_id", "sid", "jsessionid", "phpsessid", "authsession",
        ],
        .token: [
            "access_token", "refresh_token", "id_token", "id_token_hint", "token", "subject_token", "actor_token",
            "assertion",
            "client_assertion", "logout_token", "registration_access_token", "device_code", "x-idtoken", "_idtoken",
            "dpop",
            "x-auth-token", "x-access-token", "jwt", "bearer", "authtoken", "auth_token", "samlresponse", "samlrequest",
        ],
        .code: ["code", "user_code", "code_verifier", "state", "nonce", "suspendedid"],
        .password: [
            "password", "passwd", "pwd", "passphrase", "userpassword", "currentpassword", "oldpassword", "newpassword",
            "client_secret", "x-openam-password", "idtoken2",
        ],
        .authId: ["authid"],
        .oneTime: ["otp", "totp", "onetimepassword", "pin", "x-otp"],
        .transaction: ["_txid", "x-txid", "txid"],
        .secret: [
            "api_key", "apikey", "x-api-key", "secret", "csrf", "csrf_token", "_csrf", "x-csrf-token", "x-xsrf-token",
            "authenticity_token", "x-amz-security-token", "private_key", "sharedsecret",
        ],
    ]

    /// Cookies that say nothing of anybody.
    private static let harmlessCookies: Set<[UInt8]> = Set(
        ["amlbcookie", "lang", "language", "locale", "i18next", "theme", "tz", "timezone", "currency"].map {
            Array($0.utf8)
        })

    /// - Parameters:
    ///   - sessionCookies: the session cookies of the configured AMs.
    ///   - more: `journal.secrets`.
    public init(sessionCookies: [String] = [], more: [String] = []) {
        for (kind, names) in Self.usual {
            for name in names { kinds[Array(name.utf8)] = kind }
        }
        for name in more { kinds[name.utf8.map(ASCII.lower)] = .secret }
        self.sessionCookies = Set(sessionCookies.map { $0.utf8.map(ASCII.lower) })
        for name in self.sessionCookies { kinds[name] = .session }
    }

    /// All words by which a text tells that a secret may be in it, in small letters.
    var telling: [[UInt8]] {
        let legacy = (0..<1000).map { Array("idtoken\($0)".utf8) }
        let others = [
            "authorization", "proxy-authorization", "cookie", "set-cookie", "callbacks", "www-authenticate",
            "authindexvalue", "transactionconditionadvice",
        ].map { Array($0.utf8) }
        return Array(kinds.keys) + legacy + others
    }

    /// Of a field, a parameter or a member.
    func kind(_ name: some Collection<UInt8>) -> SecretKind? {
        guard name.count <= 64 else { return nil }
        let lower = name.map(ASCII.lower)
        return kinds[lower] ?? (isLegacyAnswer(lower) ? .oneTime : nil)
    }

    /// `IDToken1` and its like, by which AM's own pages answer callbacks; a name stands in the first.
    private func isLegacyAnswer(_ name: [UInt8]) -> Bool {
        let prefix = Array("idtoken".utf8)
        return name.starts(with: prefix) && name.count > prefix.count && name.count <= prefix.count + 3
            && name.dropFirst(prefix.count).allSatisfy(ASCII.isDigit) && name != prefix + [0x31]
    }

    /// Of a cookie: each is a secret that is not known to be none.
    func cookieKind(_ name: some Collection<UInt8>) -> SecretKind? {
        let lower = name.map(ASCII.lower)
        if Self.harmlessCookies.contains(lower) { return nil }
        return kinds[lower] ?? .cookie
    }
}
