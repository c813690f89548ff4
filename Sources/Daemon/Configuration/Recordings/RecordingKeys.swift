internal import Declaration
internal import Formats
internal import Recordings

/// The keys of a recording's files.
extension ObjectShape {
    static let recording = ObjectShape(
        "recording",
        [
            Key("version", .integer(0...1_000_000), "The version of the format.", isRequired: true),
            Key("name", .text(.name), "The name of the recording.", isRequired: true),
            Key("recorded", .text(.instant), "When it was made.", isRequired: true),
            Key("servers", .list(.text(.any)), "The origins of its requests."),
            Key(
                "values", .map(.name, .choice(ValueForm.allCases.map(\.rawValue))),
                "The forms of the values that a replay makes, by alias."),
            Key("volatile", .list(.text(.name)), "The places of requests that are not compared, such as query.nonce."),
            Key("exchanges", .list(.text(.name)), "The names of the exchanges, in order.", isRequired: true),
        ])

    static let recordedExchange = ObjectShape(
        "recorded_exchange",
        [
            Key("action", .text(.any), "The Action."), Key("tree", .text(.any), "The tree."),
            Key("at", .text(.instant), "When the request came.", isRequired: true),
            Key("request", .object(.recordedRequest), "The request.", isRequired: true),
            Key("response", .object(.recordedResponse), "The response.", isRequired: true),
        ])

    private static let recordedRequest = ObjectShape(
        "recorded_request",
        [
            Key("method", .text(.method), "The method.", isRequired: true),
            Key("url", .text(.any), "The whole URL.", isRequired: true),
        ] + recordedMessage)

    private static let recordedResponse = ObjectShape(
        "recorded_response", [Key("status", .integer(200...999), "The status.", isRequired: true)] + recordedMessage)

    private static let recordedMessage = [
        Key("headers", .map(.headerName, .oneOrMany(.text(.any))), "Headers."),
        Key("body", .text(.any), "The body as text."), Key("json", .json, "The body as JSON."),
        Key("form", .map(.name, .text(.any)), "The fields of a form."),
        Key("file", .text(.file), "A file of the folder with the body."),
    ]
}

extension TextFormat {
    fileprivate static let instant = TextFormat("a time such as 2026-11-21T09:25:00Z") {
        CalendarTime.seconds(ofInternet: $0) != nil
    }
}
