internal import Authorization
internal import Declaration
internal import Interception

extension KeyTable {
    static let authorization: [Key] = [
        Key(
            "resources", .oneOrMany(.textOr(.urlGlob, .resource)), "Globs over whole URLs: the protected resources.",
            standard: "[]"),
        Key(
            "am", .text(.serverURL),
            "The AM server: one of those in am. Optional if there is only one."),
        Key(
            "when_client_handles_advice", .choice(AuthorizationPolicy.ClientAdvice.allCases.map(\.rawValue)),
            "Handling of requests with x-authenticate-response, whose clients step up themselves.", standard: "pass"),
        Key("offer_header", .boolean, "Add x-authenticate-response: header to the other requests.", standard: "true"),
        Key("present", .object(.present), "How Usher sends the transaction id back."),
        Key(
            "hold", .duration(100...3_600_000),
            "The longest time for a step-up. The app waits no longer.", standard: "45s"),
        Key("limits", .object(.stepUpLimits), "Limits of one step-up."),
        Key(
            "body_limit", .size(0...(1 << 30), orUnlimited: false),
            "The largest request body that can be replayed. A larger one is streamed.", standard: "1MiB"),
        Key("rounds", .object(.rounds), "Number of step-ups per request."),
        Key(
            "lockout", .object(.lockout), "Pauses after answers that AM refused, so that AM does not lock the user out."
        ),
        Key("enforce", .object(.enforcement), "Policy evaluation at AM, for resources without a Gateway."),
        translate, PageOrigins.key,
        Key(
            "answers", .list(.object(.callbackAnswer)), "Answers to callbacks. The first that matches wins.",
            standard: "[]"),
        Key(
            "notify", .list(.text(.any)),
            "A command that runs if a person is asked: the program and its arguments, without a shell.",
            standard: "[]"),
    ]

    static let resource: [Key] = [
        Key("url", .text(.urlGlob), "Glob over the whole URL.", isRequired: true),
        Key(
            "advice", .oneOrMany(.choice(Advice.Source.allCases.map(\.rawValue))),
            "Forms of advice that count. body: a decision as the whole body, which may contain data of users.",
            standard: "[header, redirect]"),
        Key(
            "trees", .oneOrMany(.text(.tree)),
            "Globs over trees that an advice may request. Without the key, any tree; for an advice in a body, none."),
        Key("present", .text(.presentation), "How Usher sends the transaction id back."),
        Key(
            "replay", .choice(AuthorizationPolicy.ReplayScope.allCases.map(\.rawValue)),
            "Methods to replay. safe: GET and HEAD. Without the key, any; after a 2xx or 303, only the safe ones."
        ),
        Key(
            "enforce", .choice(["gateway", "am"]),
            "The enforcement point: a Gateway before the resource, or Usher, which asks AM.", standard: "gateway"),
        translate,
    ]

    static let present: [Key] = [
        Key("gateway", .text(.presentation), "The form for a Gateway.", standard: "query:_txid"),
        Key("rest", .text(.presentation), "The form for a REST service.", standard: "header:X-TxID"),
        Key(
            "id_token", .boolean,
            "Also send the client's id token, as _idtoken in the query or as X-IdToken. Usher learns it from the "
                + "client.", standard: "false"),
    ]

    static let stepUpLimits: [Key] = [
        Key("steps", .integer(1...1000), "Authenticate calls per step-up.", standard: "20"),
        Key(
            "polls", .integer(0...10_000), "Further authenticate calls that poll.",
            standard: "100"),
        Key("answer", .size(1024...(1 << 30), orUnlimited: false), "Size of one response of AM.", standard: "1MiB"),
    ]

    static let rounds: [Key] = [
        Key("upgrade", .integer(0...10), "Session upgrades per request.", standard: "1"),
        Key("transaction", .integer(0...10), "Transactions per request.", standard: "1"),
    ]

    static let lockout: [Key] = [
        Key("refusals", .integer(0...1000), "Refusals in a row before a pause. 0: no pause.", standard: "3"),
        Key(
            "hold", .duration(100...86_400_000), "The first pause. Each later one is twice as long, up to an hour.",
            standard: "30s"),
    ]
}
