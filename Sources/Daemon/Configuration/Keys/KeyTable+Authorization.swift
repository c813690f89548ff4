internal import Authorization
internal import Declaration
internal import Interception

extension KeyTable {
    static let authorization = ObjectShape("authorization", policy.keys + sessionKeys.keys)

    private static let initialPolicy = AuthorizationPolicy(
        resources: [], server: AuthorizationServer(url: "", host: ""))

    static let policy = KeyGroup(
        initialPolicy,
        .key(
            "resources", .oneOrMany(.either(.text(.urlGlob), resource.shape("resource"))),
            "Globs over whole URLs: the protected resources.",
            standard: "[]"),
        .key("am", .text(.serverURL), "The AM server: one of those in am. Optional if there is only one."),
        .choice(
            "when_client_handles_advice", \.whenClientHandlesAdvice,
            "Handling of requests with x-authenticate-response, whose clients step up themselves."),
        .flag("offer_header", \.offersHeader, "Add x-authenticate-response: header to the other requests."),
        .key("present", .object(present.shape("present")), "How Usher sends the transaction id back."),
        .number("hold", \.hold, .duration(100...3_600_000), "The longest time for a step-up. The app waits no longer."),
        .key("limits", .object(stepUpLimits.shape("step_up_limits")), "Limits of one step-up."),
        .number(
            "body_limit", \.maxBodyBytes, .size(0...(1 << 30), orUnlimited: false),
            "The largest request body that can be replayed. A larger one is streamed."),
        .key("rounds", .object(rounds.shape("rounds")), "Number of step-ups per request."),
        .key(
            "lockout", .object(lockout.shape("lockout")),
            "Pauses after answers that AM refused, so that AM does not lock the user out."),
        .key(
            "enforce", .object(enforcement.shape("enforcement")),
            "Policy evaluation at AM, for resources without a Gateway."),
        .key(translate),
        .key(PageOrigins.key),
        .key(
            "answers", .list(.object(callbackAnswer)), "Answers to callbacks. The first that matches wins.",
            standard: "[]"),
        .key(
            "notify", .list(.text(.any)),
            "A command that runs if a person is asked: the program and its arguments, without a shell.", standard: "[]")
    )

    static let resource = KeyGroup(
        AuthorizationPolicy.Resource(url: ""),
        .key("url", .text(.urlGlob), "Glob over the whole URL.", isRequired: true),
        .key(
            "advice", \.advice, .oneOrMany(.choice(Advice.Source.allCases.map(\.rawValue))),
            "Forms of advice that count. body: a decision as the whole body, which may contain data of users.",
            standard: "[header, redirect]"
        ) { Advice.Forms($0.list.compactMap { $0.text.flatMap(Advice.Source.init) }.map { Advice.Forms($0) }) },
        .key(
            "trees", \.trees, .oneOrMany(.text(.tree)),
            "Globs over trees that an advice may request. Without the key, any tree; for an advice in a body, none."
        ) { $0.list.compactMap { $0.text.map(TreePattern.init) } },
        .key("present", \.present, .text(.presentation), "How Usher sends the transaction id back.") {
            $0.presentation
        },
        .key(
            "replay", \.replay, .choice(AuthorizationPolicy.ReplayScope.allCases.map(\.rawValue)),
            "Methods to replay. safe: GET and HEAD. Without the key, any; after a 2xx or 303, only the safe ones."
        ) { $0.text.flatMap(AuthorizationPolicy.ReplayScope.init) },
        .key(
            "enforce", \.isEnforced, .choice(["gateway", "am"]),
            "The enforcement point: a Gateway before the resource, or Usher, which asks AM.", standard: "gateway"
        ) { $0.text == "am" },
        .key(translate))

    static let present = KeyGroup(
        initialPolicy,
        .key(
            "gateway", \.presentToGateway, .text(.presentation), "The form for a Gateway.", standard: "query:_txid"
        ) { $0.presentation },
        .key(
            "rest", \.presentToREST, .text(.presentation), "The form for a REST service.", standard: "header:X-TxID"
        ) { $0.presentation },
        .flag(
            "id_token", \.showsIDToken,
            "Also send the client's id token, as _idtoken in the query or as X-IdToken. Usher learns it from the "
                + "client."))

    static let stepUpLimits = KeyGroup(
        initialPolicy,
        .number("steps", \.maxSteps, .integer(1...1000), "Authenticate calls per step-up."),
        .number("polls", \.maxPolls, .integer(0...10_000), "Further authenticate calls that poll."),
        .number(
            "answer", \.maxResponseBytes, .size(1024...(1 << 30), orUnlimited: false), "Size of one response of AM."))

    static let rounds = KeyGroup(
        initialPolicy,
        .number("upgrade", \.upgradeRounds, .integer(0...10), "Session upgrades per request."),
        .number("transaction", \.transactionRounds, .integer(0...10), "Transactions per request."))

    static let lockout = KeyGroup(
        Lockout.Limits(),
        .number("refusals", \.refusals, .integer(0...1000), "Refusals in a row before a pause. 0: no pause."),
        .number(
            "hold", \.hold, .duration(100...86_400_000),
            "The first pause. Each later one is twice as long, up to an hour."))
}
