internal import Authorization
internal import Declaration

extension KeyTable {
    /// The keys of `authorization` about sessions.
    static let sessionKeys: [Key] = [
        Key(
            "session", .choice(SessionPolicy.Source.allCases.map(\.rawValue)),
            "Where the session of a request comes from that carries none: from nowhere, from its client's logins that were "
                + "seen, or from a login of Usher's own.", standard: "request_cookie"),
        Key("login", .object(.sessionLogin), "The login of session: login."),
        Key("learned", .object(.learned), "What is kept of clients' logins that were seen."),
    ]

    static let sessionLogin: [Key] = [
        Key("tree", .text(.name), "The tree; without the key, the realm's default."),
        Key("user", .text(.name), "Whom it signs in, as answers and devices name the user."),
        Key("realm", .text(.realm), "One of am[].realms; without the key, the first."),
        Key("answers", .list(.object(.callbackAnswer)), "Without the key, the answers of the entry."),
        Key(
            "max_idle", .duration(1_000...86_400_000), "How long AM keeps a session unused, where it does not tell.",
            standard: "30m"),
        Key(
            "max_time", .duration(1_000...864_000_000), "How long AM keeps any session, where it does not tell.",
            standard: "2h"),
        Key(
            "cool_down", .duration(0...86_400_000), "How long nobody tries again after a login that came to nothing.",
            standard: "60s"),
        Key("logout", .boolean, "The session is ended at AM once nobody has use for it.", standard: "false"),
    ]

    static let learned: [Key] = [
        Key(
            "by", .text(.clientIdentity),
            "By what clients are told apart: client is proxy_user where a password was shown, else address.",
            standard: "client"),
        Key("keep", .duration(1_000...864_000_000), "How long what was learned is kept.", standard: "2h"),
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
