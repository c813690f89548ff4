internal import Declaration
internal import Interception

extension KeyTable {
    static let action = ObjectShape(
        "action",
        Key("name", .text(.actionName), "The name of the Action, in capitals.", isRequired: true),
        Key("when", .object(condition), "The requests that are this Action.", isRequired: true))

    static let interceptor = ObjectShape("interceptor", interceptorKeys)
    private static let interceptorKeys: [Key] =
        [
            Key("name", .text(.label), "A unique name. It appears in logs and in responses.", isRequired: true),
            Key("when", .object(condition), "The exchanges that it applies to. Without the key, all."),
        ] + sampling.keys + [
            Key("request", .list(.object(requestEdit)), "Edits of the request, in this order.", standard: "[]"),
            Key("response", .list(.object(responseEdit)), "Edits of the response, in this order.", standard: "[]"),
            Key(
                "error", .list(.object(errorEdit)), "Edits if the origin gave no response, in this order.",
                standard: "[]"),
            Key(
                "before", .choice(["step_up"]),
                "Apply the response edits before a step-up looks for an advice."),
        ] + bodies.keys + BuiltInCatalogue.all.map { Key($0.name, $0.shape, $0.doc) }

    private static let counted = 1_000_000_000

    static let sampling = KeyGroup(
        Sampling(),
        .number("percent", \.percent, .integer(0...100), "The percentage of matching exchanges, at random."),
        .number(
            "seed", \.seed, .integer(0...counted),
            "Makes percent select the same exchanges each time, from each reload on. Without the key, at random."),
        .number("first", \.first, .integer(1...counted), "Only the first exchanges, this many, from each reload on."),
        .number(
            "every", \.every, .integer(1...counted), "Only every nth exchange: with 3 the third, the sixth and so on."))

    static let bodies = KeyGroup(
        BodyPolicy(),
        .choice(
            "over_limit", \.overLimit,
            "Handling of a message whose body the edits need but that exceeds limits.buffered_body. "
                + "Without the key, a script with on_failure: refuse refuses."),
        .choice(
            "invalid_body", \.invalid,
            "Handling of a message whose body cannot be decoded, or does not suit an edit, such as JSON. "
                + "Without the key, a script with on_failure: refuse refuses."))

    static let condition = ObjectShape("condition", conditionKeys)
    private static let conditionKeys: [Key] = [
        Key("action", .matcher(.action), "The Action of the request."),
        Key("tree", .matcher(.text), "The called tree."),
        Key("type", .matcher(.text), "How the tree was started: service, composite_advice."),
        Key("realm", .matcher(.realm), "The realm as a path."),
        Key("platform", .matcher(.text), "The SDK's platform."),
        Key("scheme", .matcher(.scheme), "http or https."),
        Key("host", .matcher(.host), "The host without its port."),
        Key("port", .matcher(.port), "The port."),
        Key(
            "by", .matcher(.by),
            "The sender: app or usher. Without the key, edits that delay or break messages spare Usher's own calls."
        ),
        Key("path", .matcher(.path), "The path without the query, in its normal form."),
        Key("method", .matcher(.method), "The method."),
        Key("header", .map(.headerName, .matcher(.text)), "Headers by name."),
        Key("query", .map(.name, .matcher(.text)), "Query parameters by name."),
        Key("cookie", .map(.cookieName, .matcher(.text)), "Cookies by name."),
        Key(
            "json", .map(.jsonPointer, .matcher(.text)),
            "Values in the request's JSON body, by JSON pointer. Numbers compare by value."),
        Key("form", .map(.name, .matcher(.text)), "Fields of the request's form body, by name."),
        Key("status", .matcher(.status), "The response's status: 401, 5xx, 400-499."),
        Key("content_type", .matcher(.contentType), "The content type of the response, without parameters."),
        Key("response_header", .map(.headerName, .matcher(.text)), "Headers of the response by name."),
        Key(
            "response_json", .map(.jsonPointer, .matcher(.text)),
            "Values in the response's JSON body, by JSON pointer."),
        Key(
            "error", .matcher(.error),
            "Why the origin gave no response: \(OriginFault.Kind.allCases.map(\.rawValue).joined(separator: ", "))."),
        Key("any", .list(.object(condition)), "At least one of these conditions holds."),
        Key("not", .object(condition), "This condition does not hold."),
    ]

    static let requestEdit = edits("request_edit", EditCatalogue.request)
    static let responseEdit = edits("response_edit", EditCatalogue.response)
    static let errorEdit = edits("error_edit", EditCatalogue.error)

    private static func edits(_ name: String, _ edits: [any Edit.Type]) -> ObjectShape {
        let keys = edits.map { Key($0.name, $0.shape, $0.doc) }
        return ObjectShape(name, keys)
    }
}
