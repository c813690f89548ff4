internal import Authorization
internal import Declaration

extension KeyTable {
    static let enforcement = KeyGroup(
        Enforcement(),
        .text("application", \.application, .name, "The policy set in AM."),
        .key("realm", .text(.realm), "The realm of the policies: one of am[].realms. Without the key, the first."),
        .key(
            "as", .object(agent), "The user who evaluates policies. Without the key, the user of the request's session."
        ),
        .key("environment", .map(.name, .oneOrMany(.text(.any))), "Values for policy conditions."),
        .flag("address", \.tellsAddress, "Also send the client's address, as IP."),
        .flag("query", \.includesQuery, "Include the query in the resource."),
        .number(
            "cache", \.maxAge, .duration(0...86_400_000),
            "The longest time to cache a decision, if AM allows caching. 0s: no cache."),
        .number("concurrency", \.concurrency, .integer(1...10_000), "Concurrent policy evaluations."))

    static let agent = ObjectShape(
        "agent",
        Key("session", .text(.any), "A session obtained elsewhere, such as \"${credential.agent-session}\"."),
        Key("user", .text(.any), "The agent or user who may evaluate policies."),
        Key("password", .text(.any), "The password, such as \"${credential.agent-pass}\"."),
        Key(
            "tree", .text(.name),
            "The tree that reads both from header fields, such as Agent. Without the key, the realm's default."))

    /// The values of `translate`, in the order of the forms.
    static let translations: [(word: String, form: Advice.Source?)] = [
        ("none", nil), ("header", .header), ("redirect", .redirect), ("json", .body),
    ]

    static let translate = Key(
        "translate", .choice(translations.map(\.word)),
        "The form of advice for clients that step up themselves. none: Usher steps up.")
}
