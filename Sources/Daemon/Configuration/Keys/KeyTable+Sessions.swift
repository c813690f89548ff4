internal import Authorization
internal import Declaration

extension KeyTable {
    /// The keys of `authorization` about sessions.
    static let sessionKeys = KeyGroup(
        SessionPolicy(),
        .choice(
            "session", \.source,
            "The session for requests without one. request_cookie: none. learned: from logins of the same client. "
                + "login: from a login by Usher."),
        .key("login", .object(sessionLogin.shape("session_login")), "The login for session: login."),
        .key("learned", .object(learned.shape("learned")), "Sessions learned from clients' logins."))

    static let sessionLogin = KeyGroup(
        SessionLogin(),
        .text("tree", \.tree, .name, "The tree. Without the key, the realm's default."),
        .text("user", \.user, .name, "The user's name, as in answers and devices."),
        .key("realm", .text(.realm), "One of am[].realms. Without the key, the first."),
        .key("answers", .list(.object(callbackAnswer)), "Answers for this login. Without the key, those of the entry."),
        .number(
            "max_idle", \.maxIdle, .duration(1_000...86_400_000),
            "The idle time of a session, if AM does not report it."),
        .number(
            "max_time", \.maxTime, .duration(1_000...864_000_000),
            "The lifetime of a session, if AM does not report it."),
        .number("cool_down", \.coolDown, .duration(0...86_400_000), "The pause after a failed login."),
        .flag("logout", \.logsOut, "End a session at AM once nobody needs it."))

    static let learned = KeyGroup(
        SessionPolicy(),
        .key(
            "by", \.identity, .text(.clientIdentity),
            "The identity of clients. client: proxy_user if the client gave a password, else address.",
            standard: "client"
        ) { $0.text.flatMap(SessionBuilder.identity) },
        .number("keep", \.keep, .duration(1_000...864_000_000), "The time that a learned session is kept."))
}

extension TextFormat {
    static let clientIdentity = TextFormat(
        "client, proxy_user, address or header:NAME",
        pattern: "^(client|proxy_user|address|header:[A-Za-z0-9!#$%&'*+.^_`|~-]+)$",
        isPublic: true
    ) { text in SessionBuilder.identity(text) != nil }
}
