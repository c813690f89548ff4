internal import Declaration
internal import Interception

extension KeyTable {
    static let action: [Key] = [
        Key("name", .text(.actionName), "Name of the Action, in capitals.", isRequired: true),
        Key("when", .object(.condition), "The requests that are this Action.", isRequired: true),
    ]

    static let interceptor: [Key] =
        [
            Key("name", .text(.label), "Unique; stands in log and answers.", isRequired: true),
            Key("when", .object(.condition), "Which exchanges it concerns; all where it is missing."),
            Key("percent", .integer(0...100), "Takes so many of a hundred of them, by chance.", standard: "100"),
            Key(
                "seed", .integer(0...counted),
                "Has percent choose the same ones each time, counted from each reload on; without it chance does."),
            Key(
                "first", .integer(1...counted),
                "Takes so many of them, and none after that; counted from each reload on."),
            Key(
                "every", .integer(1...counted), "Takes each one behind so many less one: with 3 the third, the sixth.",
                standard: "1"),
            Key("request", .list(.object(.requestEdit)), "Edits of the request, in this order.", standard: "[]"),
            Key("response", .list(.object(.responseEdit)), "Edits of the response, in this order.", standard: "[]"),
            Key(
                "error", .list(.object(.errorEdit)), "What is done where the origin gave no answer, in this order.",
                standard: "[]"),
            Key(
                "before", .choice(["step_up"]),
                "Has the edits of the response made before a step-up looks for an advice there."),
            Key(
                "over_limit", handling,
                "What becomes of a message whose body these edits need and limits.buffered_body does not admit.",
                standard: "pass"),
            Key(
                "invalid_body", handling,
                "What becomes of a message whose body is not what an edit is for, such as JSON, or cannot be unpacked.",
                standard: "pass"),
        ] + BuiltInCatalogue.all.map { Key($0.name, $0.shape, $0.doc) }

    private static let counted = 1_000_000_000
    private static let handling = Shape.choice(BodyPolicy.Handling.allCases.map(\.rawValue))

    static let condition: [Key] = [
        Key("action", .matcher(.action), "What the request means to AM."),
        Key("tree", .matcher(.text), "The tree that is called."),
        Key("type", .matcher(.text), "How the tree was started: service, composite_advice."),
        Key("realm", .matcher(.realm), "The realm as a path."),
        Key("platform", .matcher(.text), "The SDK's platform."),
        Key("scheme", .matcher(.scheme), "http or https."),
        Key("host", .matcher(.host), "The host without its port."),
        Key("port", .matcher(.port), "The port."),
        Key(
            "by", .matcher(.by),
            "Who sends it: app or usher. Without it an interceptor that holds up or breaks messages leaves Usher's own calls alone."
        ),
        Key("path", .matcher(.path), "The path without the query, in its normal form."),
        Key("method", .matcher(.method), "The method."),
        Key("header", .map(.headerName, .matcher(.text)), "Headers by name."),
        Key("query", .map(.name, .matcher(.text)), "Query parameters by name."),
        Key("cookie", .map(.cookieName, .matcher(.text)), "Cookies by name."),
        Key(
            "json", .map(.jsonPointer, .matcher(.text)),
            "What JSON pointers lead to in the request's body; numbers compare by what they are worth."),
        Key("form", .map(.name, .matcher(.text)), "Fields of a form that is the request's body, by name."),
        Key("status", .matcher(.status), "The response's status: 401, 5xx, 400-499."),
        Key("content_type", .matcher(.contentType), "The response's content type without parameters."),
        Key(
            "response_json", .map(.jsonPointer, .matcher(.text)), "What JSON pointers lead to in the response's body."),
        Key(
            "error", .matcher(.error),
            "Why the origin gave no answer: \(OriginFault.Kind.allCases.map(\.rawValue).joined(separator: ", "))."),
        Key("any", .list(.object(.condition)), "One of these holds."),
        Key("not", .object(.condition), "This does not hold."),
    ]

    static let requestEdit: [Key] = EditCatalogue.request.map { Key($0.name, $0.shape, $0.doc) }
    static let errorEdit: [Key] = EditCatalogue.error.map { Key($0.name, $0.shape, $0.doc) }
    static let responseEdit: [Key] = EditCatalogue.response.map { Key($0.name, $0.shape, $0.doc) }
}
