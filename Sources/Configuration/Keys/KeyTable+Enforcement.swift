internal import Authorization
internal import Declaration

extension KeyTable {
    static let enforcement: [Key] = [
        Key(
            "application", .text(.name), "The policy set in AM.",
            standard: Enforcement.standardApplication),
        Key("realm", .text(.realm), "The realm of the policies: one of am[].realms. Without the key, the first."),
        Key(
            "as", .object(.agent),
            "The user who evaluates policies. Without the key, the user of the request's session."),
        Key(
            "environment", .map(.name, .oneOrMany(.text(.any))),
            "Values for policy conditions."),
        Key("address", .boolean, "Also send the client's address, as IP.", standard: "false"),
        Key("query", .boolean, "Include the query in the resource.", standard: "true"),
        Key(
            "cache", .duration(0...86_400_000),
            "The longest time to cache a decision, if AM allows caching. 0s: no cache.", standard: "60s"),
        Key("concurrency", .integer(1...10_000), "Concurrent policy evaluations.", standard: "64"),
    ]

    static let agent: [Key] = [
        Key("session", .text(.any), "A session obtained elsewhere, such as \"${credential.agent-session}\"."),
        Key("user", .text(.any), "The agent or user who may evaluate policies."),
        Key("password", .text(.any), "The password, such as \"${credential.agent-pass}\"."),
        Key(
            "tree", .text(.name),
            "The tree that reads both from header fields, such as Agent. Without the key, the realm's default."),
    ]

    /// The values of `translate`, in the order of the forms.
    static let translations: [(word: String, form: Advice.Source?)] = [
        ("none", nil), ("header", .header), ("redirect", .redirect), ("json", .body),
    ]

    static let translate = Key(
        "translate", .choice(translations.map(\.word)),
        "The form of advice for clients that step up themselves. none: Usher steps up.")
}

extension ObjectShape {
    static let enforcement: ObjectShape = .init("enforcement", KeyTable.enforcement)
    static let agent: ObjectShape = .init("agent", KeyTable.agent)
}
