internal import Authorization
internal import Declaration

extension KeyTable {
    static let enforcement: [Key] = [
        Key(
            "application", .text(.name), "The policy set that AM decides by.",
            standard: Enforcement.standardApplication),
        Key("realm", .text(.realm), "Where the policies are: one of am[].realms, the first of them without the key."),
        Key(
            "as", .object(.agent),
            "As whom AM is asked; without the key as whoever sent the request, by the session that it carries."),
        Key(
            "environment", .map(.name, .oneOrMany(.text(.any))),
            "What AM is told for conditions beside what it finds out itself."),
        Key("address", .boolean, "AM is told the client's address, as IP.", standard: "false"),
        Key("query", .boolean, "The query is part of the resource.", standard: "true"),
        Key(
            "cache", .duration(0...86_400_000),
            "The longest for which a decision is kept that AM says may be; 0s for none.", standard: "60s"),
        Key("concurrency", .integer(1...10_000), "Questions that may be under way at one time.", standard: "64"),
    ]

    static let agent: [Key] = [
        Key("session", .text(.any), "A session that was won elsewhere, as \"${credential.agent-session}\"."),
        Key("user", .text(.any), "The name of an agent or a user who may evaluate policies."),
        Key("password", .text(.any), "The password, as \"${credential.agent-pass}\"."),
        Key(
            "tree", .text(.name),
            "The tree that takes both from header fields, such as Agent; the realm's own without the key."),
    ]

    /// The values of `translate`, in the order of the forms.
    static let translations: [(word: String, form: Advice.Source?)] = [
        ("none", nil), ("header", .header), ("redirect", .redirect), ("json", .body),
    ]

    static let translate = Key(
        "translate", .choice(translations.map(\.word)),
        "The form of advice that clients understand who step up by themselves; none where Usher does.")
}

extension ObjectShape {
    static let enforcement: ObjectShape = .init("enforcement", KeyTable.enforcement)
    static let agent: ObjectShape = .init("agent", KeyTable.agent)
}
