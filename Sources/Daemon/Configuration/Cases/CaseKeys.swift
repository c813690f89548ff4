internal import Authorization
internal import Declaration
internal import Formats
internal import ProxyCore

/// The keys of a file of cases.
extension ObjectShape {
    static let caseFile = ObjectShape(
        "case_file",
        [
            Key("config", .oneOrMany(.text(.file)), "The configuration; its path is relative to this file's folder."),
            Key("environment", .map(.name, .text(.any)), "Variables that the configuration reads."),
            Key("cases", .list(.object(.testCase)), "The cases.", isRequired: true),
        ])

    static let testCase = ObjectShape(
        "case",
        [
            Key("name", .text(.name), "The name of the case.", isRequired: true),
            Key(
                "request", .either(.text(.any), .caseRequest), "An HTTP message, a curl command, or keys.",
                isRequired: true),
            Key(
                "origin", .oneOrMany(.either(.text(.any), .caseAnswer)),
                "The response to every request, or a list of responses in order."),
            Key(
                "others", .integer(1...100_000),
                "The number of requests that came just before and are still under way, for interceptors with limits."),
            Key("expect", .object(.caseExpectation), "The expected result.", isRequired: true),
        ])

    static let caseRequest = ObjectShape(
        "case_request",
        [
            Key("method", .text(.method), "The method.", standard: "GET"),
            Key("url", .text(.url), "The whole URL.", isRequired: true),
            Key("headers", .map(.headerName, .oneOrMany(.text(.headerValue))), "Headers."),
            Key("form", .map(.name, .text(.any)), "The fields of a form."),
        ] + bodies)

    static let caseAnswer = ObjectShape(
        "case_answer",
        [
            Key("status", .integer(200...599), "Status.", standard: "200"),
            Key("headers", .map(.headerName, .oneOrMany(.text(.headerValue))), "Headers."),
            Key(
                "error", .choice(TestCase.Failure.allCases.map(\.rawValue)),
                "Why there is no response, as in when: { error }."),
        ] + bodies)

    private static let bodies = [
        Key("body", .text(.any), "The body as text."), Key("json", .json, "The body as JSON."),
        Key("file", .text(.file), "A file with the body."),
    ]

    static let caseExpectation = ObjectShape(
        "case_expectation",
        [
            Key("action", .text(.any), "The Action, or none."), Key("tree", .text(.any), "The tree."),
            Key("realm", .text(.any), "The realm."),
            Key(
                "session", .choice(SessionOrigin.allCases.map(\.rawValue)),
                "The source of the session that a protected resource gets."),
            Key("applied", .oneOrMany(.text(.any)), "All interceptors that apply."),
            Key("not_applied", .oneOrMany(.text(.any)), "Interceptors that do not apply."),
            Key("took", .duration(0...86_400_000), "The time spent waiting. Nothing else takes time."),
            Key(
                "sent", .oneOrMany(.either(.text(.noMessage), .caseSent)), "The requests to origins, in order; or none."
            ),
            Key(
                "received", .either(.text(.noMessage), .caseReceived),
                "The response to the client; none: no valid response."),
            Key(
                "connection", .choice(DryRun.ConnectionEnd.allCases.map(\.rawValue)),
                "The state of the client's connection afterwards."),
        ])

    static let caseSent = ObjectShape(
        "case_sent",
        [
            Key("method", .text(.any), "The method."),
            Key("url", .text(.any), "The URL: exact, a glob, or ~ and a pattern."),
        ]
            + message)

    static let caseReceived = ObjectShape(
        "case_received",
        [
            Key("status", .integer(100...599), "The status."),
            Key("whole", .boolean, "false: the response ends early.", standard: "true"),
        ] + message)

    private static let message = [
        Key(
            "headers", .map(.headerName, .json),
            "Headers: exact, a glob, or ~ and a pattern; null for none; a list for all lines."),
        Key("body", .text(.any), "The body: exact, a glob, or ~ and a pattern."),
        Key("json", .map(.pointer, .json), "Values of a JSON body by JSON pointer."),
        Key("json_absent", .oneOrMany(.text(.pointer)), "JSON pointers that have no value in the body."),
    ]
}

extension TextFormat {
    fileprivate static let noMessage = TextFormat("none, or the keys of a message", isPublic: true) { $0 == "none" }
    fileprivate static let pointer = TextFormat("a JSON pointer, such as /items/0/name, or \"\"", isPublic: true) {
        JSONPointer($0) != nil
    }
}
