internal import Authorization
internal import Declaration
internal import Interception

extension KeyTable {
    static let authorization: [Key] = [
        Key(
            "resources", .oneOrMany(.textOr(.urlGlob, .resource)), "Globs over whole URLs: what is protected.",
            standard: "[]"),
        Key(
            "am", .text(.serverURL),
            "The server that sessions go to: one of those under am. May be left out where there is one."),
        Key(
            "when_client_handles_advice", .choice(AuthorizationPolicy.ClientAdvice.allCases.map(\.rawValue)),
            "What to do with requests that came with x-authenticate-response.", standard: "pass"),
        Key("offer_header", .boolean, "Adds x-authenticate-response: header to the others.", standard: "true"),
        Key("present", .object(.present), "How the transaction id is handed back."),
        Key("hold", .duration(100...3_600_000), "The whole step-up; the app waits no longer.", standard: "45s"),
        Key("limits", .object(.stepUpLimits), "Limits of one step-up."),
        Key(
            "body_limit", .size(0...(1 << 30), orUnlimited: false),
            "A larger request body is streamed and not replayed.", standard: "1MiB"),
        Key("rounds", .object(.rounds), "Step-ups per request."),
        Key(
            "lockout", .object(.lockout), "When answers that AM refused are not given again, lest it lock the user out."
        ),
        Key("enforce", .object(.enforcement), "How AM is asked about resources that no Gateway stands before."),
        translate, PageOrigins.key,
        Key(
            "answers", .list(.object(.callbackAnswer)), "Answers to callbacks; the first that matches wins.",
            standard: "[]"),
        Key(
            "notify", .list(.text(.any)),
            "A command that is run where a person is asked, without a shell: the program and its arguments.",
            standard: "[]"),
    ]

    static let resource: [Key] = [
        Key("url", .text(.urlGlob), "Glob over the whole URL.", isRequired: true),
        Key(
            "advice", .oneOrMany(.choice(Advice.Source.allCases.map(\.rawValue))),
            "Forms in which an advice counts; body: a decision as the whole body, which may be somebody's data.",
            standard: "[header, redirect]"),
        Key(
            "trees", .oneOrMany(.text(.tree)),
            "Trees that an advice may ask for, with globs; without the key any, but none for an advice in a body."),
        Key("present", .text(.presentation), "How the transaction id is handed back."),
        Key(
            "replay", .choice(AuthorizationPolicy.ReplayScope.allCases.map(\.rawValue)),
            "Methods that are replayed; safe: GET and HEAD. Without the key any, but the safe ones alone after a 2xx or 303."
        ),
        Key(
            "enforce", .choice(["gateway", "am"]),
            "Who lets requests through: a Gateway before the resource, or Usher, which asks AM.", standard: "gateway"),
        translate,
    ]

    static let present: [Key] = [
        Key("gateway", .text(.presentation), "To a Gateway.", standard: "query:_txid"),
        Key("rest", .text(.presentation), "To a REST service.", standard: "header:X-TxID"),
        Key(
            "id_token", .boolean,
            "The client's id token goes along, as _idtoken in the query or as the header X-IdToken; it is learned from its token "
                + "exchanges.", standard: "false"),
    ]

    static let stepUpLimits: [Key] = [
        Key("steps", .integer(1...1000), "Authenticate calls.", standard: "20"),
        Key(
            "polls", .integer(0...10_000), "Calls beyond these that ask whether there is something new.",
            standard: "100"),
        Key("answer", .size(1024...(1 << 30), orUnlimited: false), "Size of one answer of AM.", standard: "1MiB"),
    ]

    static let rounds: [Key] = [
        Key("upgrade", .integer(0...10), "Session upgrades per request.", standard: "1"),
        Key("transaction", .integer(0...10), "Transactions per request.", standard: "1"),
    ]

    static let lockout: [Key] = [
        Key("refusals", .integer(0...1000), "Refusals in a row before step-ups hold off; 0: never.", standard: "3"),
        Key(
            "hold", .duration(100...86_400_000), "The first pause; each later one lasts twice as long, up to an hour.",
            standard: "30s"),
    ]
}
