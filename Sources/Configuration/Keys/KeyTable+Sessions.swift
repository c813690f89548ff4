internal import Authorization
internal import Declaration

extension KeyTable {
    /// The keys of `authorization` about sessions.
    static let sessionKeys: [Key] = [
        Key(
            "session", .choice(SessionPolicy.Source.allCases.map(\.rawValue)),
            "The session for requests without one. request_cookie: none. learned: from logins of the same client. "
                + "login: from a login by Usher.", standard: "request_cookie"),
        Key("login", .object(.sessionLogin), "The login for session: login."),
        Key("learned", .object(.learned), "Sessions learned from clients' logins."),
    ]

    static let sessionLogin: [Key] = [
        Key("tree", .text(.name), "The tree. Without the key, the realm's default."),
        Key("user", .text(.name), "The user's name, as in answers and devices."),
        Key("realm", .text(.realm), "One of am[].realms. Without the key, the first."),
        Key("answers", .list(.object(.callbackAnswer)), "Answers for this login. Without the key, those of the entry."),
        Key(
            "max_idle", .duration(1_000...86_400_000), "The idle time of a session, if AM does not report it.",
            standard: "30m"),
        Key(
            "max_time", .duration(1_000...864_000_000), "The lifetime of a session, if AM does not report it.",
            standard: "2h"),
        Key(
            "cool_down", .duration(0...86_400_000), "The pause after a failed login.",
            standard: "60s"),
        Key("logout", .boolean, "End a session at AM once nobody needs it.", standard: "false"),
    ]

    static let learned: [Key] = [
        Key(
            "by", .text(.clientIdentity),
            "The identity of clients. client: proxy_user if the client gave a password, else address.",
            standard: "client"),
        Key("keep", .duration(1_000...864_000_000), "The time that a learned session is kept.", standard: "2h"),
    ]
}

extension ObjectShape {
    static let sessionLogin: ObjectShape = .init("session_login", KeyTable.sessionLogin)
    static let learned: ObjectShape = .init("learned", KeyTable.learned)
}

extension TextFormat {
    static let clientIdentity = TextFormat(
        "client, proxy_user, address or header:NAME",
        pattern: "^(client|proxy_user|address|header:[A-Za-z0-9!#$%&'*+.^_`|~-]+)$",
        isPublic: true
    ) { text in SessionBuilder.identity(text) != nil }
}
