internal import Formats

/// The names of fields, parameters, cookies and JSON members whose values are secrets.
public struct SecretNames: Sendable {
    /// In lower case.
    private var kinds: [[UInt8]: SecretKind] = [:]
    private let sessionCookies: Set<[UInt8]>
    private let added: [[UInt8]]

    private static let usual: [SecretKind: [String]] = [
        .session: [
            "tokenid", "sessionupgradessotokenid", "ssotoken", "ssotokenid", "iplanetdirectorypro", "session_token",
            "session_id", "session", "sid", "jsessionid", "phpsessid", "authsession", "sessionhandle", "token.id",
            "subjectid",
        ],
        .token: [
            "access_token", "refresh_token", "id_token", "id_token_hint", "token", "subject_token", "actor_token",
            "assertion", "client_assertion", "logout_token", "registration_access_token", "device_code", "x-idtoken",
            "_idtoken", "dpop", "x-auth-token", "jwt", "bearer", "auth_token", "samlresponse", "samlrequest",
            "samlart", "wresult", "rpt", "pct", "lares", "pgtid", "pgtiou", "proxygrantingticket", "proxyticket",
            "subjectconfirmationdata",
        ],
        .code: [
            "code", "user_code", "code_verifier", "state", "nonce", "suspendedid", "auth_req_id", "request_uri",
            "ticket", "oauth_verifier",
        ],
        .password: [
            "password", "passwd", "pwd", "passphrase", "userpassword", "currentpassword", "oldpassword", "newpassword",
            "client_secret", "x-openam-password", "idtoken2", "pw", "pass", "passcode",
        ],
        .authId: ["authid"],
        .oneTime: ["otp", "totp", "onetimepassword", "pin", "x-otp", "recoverycode", "recoverycodes"],
        .transaction: ["_txid", "x-txid", "txid"],
        .secret: [
            "api_key", "x-api-key", "secret", "csrf", "csrf_token", "_csrf", "x-csrf-token", "x-xsrf-token",
            "authenticity_token", "x-amz-security-token", "x-amz-signature", "private_key", "sharedsecret",
            "authentication-info", "proxy-authentication-info", "kba", "kbainfo", "security_answer", "x-apikey",
            "x-access-key", "secret_key", "secret_access_key", "usher-session",
        ],
    ]

    /// Names that are secrets only in texts with a certain word, and where they occur.
    struct Context {
        enum Place {
            case anywhere
            /// A member of JSON.
            case member
            /// A parameter of a URI.
            case parameter
            /// After `token.`.
            case part
        }

        /// The length of the longest name in bytes.
        static let longest = 5

        let word: ByteSearch
        let names: Set<[UInt8]>
        let place: Place

        init(_ word: String, _ names: [String], _ place: Place) {
            self.word = ByteSearch(Array(word.utf8))
            self.names = Set(names.map { Array($0.utf8) })
            self.place = place
        }
    }

    static let contexts = [
        // text that is no complete JSON
        Context("callbacks", ["value"], .anywhere),
        // URIs that register an authenticator
        Context("pushauth", ["s", "c"], .parameter), Context("mfauth", ["s", "c"], .parameter),
        // private and symmetric keys (RFC 7518 §6)
        Context("kty", privateMembers, .member),
        // output of AM's older services
        Context("token.id", ["id"], .part),
    ]

    /// The private members of a JWK; `r` and `t` occur only below `oth`.
    static let privateMembers = ["k", "d", "p", "q", "dp", "dq", "qi", "oth", "r", "t"]

    /// The suffixes of callback inputs after `IDToken1` that hold a secret.
    private static let inputs: [(ending: String, kind: SecretKind)] = [
        ("answer", .secret), ("token", .oneTime), ("jws", .oneTime), ("payload", .oneTime), ("signals", .oneTime),
    ]

    /// Too short for the search of words, because it occurs in many texts. It is found as a parameter.
    static let shortest = Array("pw".utf8)

    /// The endings of unlisted names that are secrets.
    static let endings: [(name: String, kind: SecretKind)] = [
        ("password", .password), ("secret", .secret), ("token", .token),
    ]

    /// Cookies that identify nobody.
    private static let harmlessCookies: Set<[UInt8]> = Set(
        ["amlbcookie", "lang", "language", "locale", "i18next", "theme", "tz", "timezone", "currency"].map {
            Array($0.utf8)
        })

    private static let longest = 64
    private var words = WordTable()

    /// - Parameters:
    /// - sessionCookies: the session cookies of the configured AMs.
    /// - more: `journal.secrets`.
    public init(sessionCookies: [String] = [], more: [String] = []) {
        for (kind, names) in Self.usual {
            for name in names {
                for form in Self.forms(of: name) { kinds[form] = kind }
            }
        }
        added = more.map { $0.utf8.map(ASCII.lower) }
        for name in added { kinds[name] = .secret }
        self.sessionCookies = Set(sessionCookies.map { $0.utf8.map(ASCII.lower) })
        for name in self.sessionCookies { kinds[name] = .session }
        words = WordTable(telling + [Self.shortest] + Self.contexts.flatMap(\.names))
    }

    /// The variants of a name: `access_token`, `access-token` in a field, `accessToken` in JSON.
    private static func forms(of name: String) -> Set<[UInt8]> {
        let bytes = Array(name.utf8)
        let inner = bytes.dropFirst()
        let joined = bytes.prefix(1) + inner.filter { $0 != 0x5F && $0 != 0x2D }
        return [
            bytes, bytes.prefix(1) + inner.map { $0 == 0x5F ? 0x2D : $0 },
            bytes.prefix(1) + inner.map { $0 == 0x2D ? 0x5F : $0 }, Array(joined),
        ]
    }

    /// All words that hint at a secret in a text, in lower case.
    var telling: [[UInt8]] {
        let legacy = (0..<1000).map { "idtoken\($0)" } + (0..<100).map { "callback_\($0)" }
        let inputs = (0..<100).flatMap { number in Self.inputs.map { "idtoken\(number)\($0.ending)" } }
        let answers = (0..<100).map { "answer\($0)" }
        let others = ["authorization", "pushauth", "mfauth", "kty", "recovery"] + Self.holders
        let fields = Self.collections + Self.cookieFields.keys
        // client text may look like an alias and has to be escaped
        let aliases = SecretKind.allCases.map { ASCII.lowercased($0.word) }
        return kinds.keys.filter { $0 != Self.shortest } + added + fields
            + (legacy + inputs + answers + others + aliases).map { Array($0.utf8) }
    }

    /// Whether the value of a field, parameter or member with this name may be or contain a secret.
    public func mayHide(_ name: String) -> Bool {
        meaning(name.utf8) != nil || Self.holders.contains(ASCII.lowercased(name))
    }

    /// The names of values that may contain secrets.
    private static let holders = [
        "callbacks", "www-authenticate", "authindexvalue", "sunamcompositeadvice", "transactionconditionadvice",
        "sec-websocket-protocol",
    ]

    /// The segments that precede a session or token in AM's paths.
    private static let collections = ["sessions", "tokens"].map { Array($0.utf8) }

    /// - Parameter segment: a segment of a path, percent-encoded or not.
    public static func holdsTokens(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.count > 5
            && collections.contains(PercentCoding.decodeBytes(segment, plusAsSpace: false).map(ASCII.lower))
    }

    /// The fields of cookies, and members with the same names.
    private static let cookieFields: [[UInt8]: SecretMeaning] = [
        Array("cookie".utf8): .cookies, Array("cookie2".utf8): .cookies, Array("set-cookie".utf8): .setCookie,
        Array("set-cookie2".utf8): .setCookie,
    ]

    /// The meaning of the value of a field, parameter or member.
    func meaning(_ name: some Collection<UInt8>) -> SecretMeaning? {
        if mayTell(name) {
            if let kind = kind(name) { return .secret(kind) }
            if [6, 7, 10, 11].contains(name.count), let meaning = Self.cookieFields[name.map(ASCII.lower)] {
                return meaning
            }
        }
        return Self.isAuthorization(name) ? .credentials : nil
    }

    /// The kind of the value of a field, parameter or member.
    func kind(_ name: some Collection<UInt8>) -> SecretKind? {
        guard name.count <= Self.longest, mayTell(name) else { return nil }
        let lower = Self.plain(name.map(ASCII.lower)[...])
        if let kind = kinds[Array(lower)] ?? Self.numbered(lower) { return kind }
        return Self.endings.first {
            let ending = $0.name.utf8
            return lower.count > ending.count && lower.suffix(ending.count).elementsEqual(ending)
        }?
        .kind
    }

    /// The core of a name such as `user[password]`, `code[]`, ` code` or `amp;code`.
    private static func plain(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var name = name.drop { $0 == ASCII.space }
        if name.first == 0x61, name.starts(with: "amp;".utf8) { name = name.dropFirst(4) }
        while name.last == 0x5D, let open = name.lastIndex(of: 0x5B) {
            let inner = name[(open + 1)..<(name.endIndex - 1)]
            if !inner.isEmpty, !inner.allSatisfy(ASCII.isDigit) { return inner }
            name = name[..<open]
        }
        return name
    }

    /// A quick check that rules out most names by their first and last letters.
    func mayTell(_ name: some Collection<UInt8>) -> Bool {
        var (first, last): (UInt64, UInt64) = (0, 0)
        var count = 0
        for byte in name {
            guard ByteClasses.isWord(byte) else { return true }
            if count < WordTable.size { first |= UInt64(byte) << UInt64(count * 8) }
            last = last << 8 | UInt64(byte | 0x20)
            count += 1
        }
        guard count > 0 else { return false }
        // `password`, `secret` and `token`
        return last == 0x7061_7373_776F_7264 || last & 0xFFFF_FFFF_FFFF == 0x7365_6372_6574
            || last & 0xFF_FFFF_FFFF == 0x74_6F6B_656E || words.look(first, count).isName
    }

    /// The kind of `IDToken2` and `callback_1`, which AM's pages use for callbacks; the first one of these is a name.
    /// `IDToken1answer` is one of a callback's inputs, `answer1` the answer to a security question.
    private static func numbered(_ name: ArraySlice<UInt8>) -> SecretKind? {
        guard name.contains(where: ASCII.isDigit) else { return nil }
        for (word, longest, first) in [("idtoken", 3, 0x31), ("callback_", 2, 0x30), ("answer", 2, nil)]
            as [(String, Int, UInt8?)]
        where name.starts(with: word.utf8) {
            let digits = name.dropFirst(word.utf8.count).prefix(while: ASCII.isDigit)
            guard !digits.isEmpty, digits.count <= longest else { continue }
            let ending = name[digits.endIndex...]
            guard let first else { return ending.isEmpty ? .secret : nil }
            if ending.isEmpty { return digits.elementsEqual([first]) ? nil : .oneTime }
            return inputs.first { ending.elementsEqual($0.ending.utf8) }?.kind
        }
        return nil
    }

    /// The meaning of a path to a member in patches of IDM, SCIM and RFC 6902: `/password`, `urn:…:User:password`.
    func meaning(onPath path: some Collection<UInt8>) -> SecretMeaning? {
        PercentCoding.decodeBytes(path, plusAsSpace: false).split {
            [0x2F, 0x3A, 0x2E, 0x5B, 0x5D, 0x7E].contains($0)
        }
        .lazy.compactMap { self.meaning($0) }.first
    }

    /// True for fields and members with credentials (RFC 9110 §11.4).
    static func isAuthorization(_ name: some Collection<UInt8>) -> Bool {
        let wanted = "authorization".utf8
        return name.count >= wanted.count
            && zip(name.suffix(wanted.count), wanted).allSatisfy { ASCII.lower($0) == $1 }
    }

    /// The kind of a cookie. A cookie is a secret unless it is known to be harmless.
    func cookieKind(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>) -> SecretKind? {
        let lower = name.map(ASCII.lower)
        if Self.harmlessCookies.contains(lower), value.count <= Self.longestHarmless,
            value.allSatisfy({ ASCII.isUnreserved($0) })
        {
            return nil
        }
        return kinds[lower] ?? .cookie
    }

    /// The limit of a harmless cookie in bytes.
    private static let longestHarmless = 16
}
