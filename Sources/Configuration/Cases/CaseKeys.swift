internal import Authorization
internal import Declaration
internal import Formats
internal import HTTPCodec
internal import Interception
internal import ProxyCore

/// The keys of a file of cases.
extension ObjectShape {
    static let caseFile = ObjectShape(
        "case_file",
        [
            Key("config", .oneOrMany(.text(.file)), "The configuration; its path starts from this file's folder."),
            Key("environment", .map(.name, .text(.any)), "Variables that the configuration reads."),
            Key("cases", .list(.object(.testCase)), "The cases.", isRequired: true),
        ])

    static let testCase = ObjectShape(
        "case",
        [
            Key("name", .text(.name), "What it is about.", isRequired: true),
            Key("request", .textOr(.any, .caseRequest), "An HTTP message, a curl command, or keys.", isRequired: true),
            Key(
                "origin", .oneOrMany(.textOr(.any, .caseAnswer)),
                "What every request is answered with, or a list of answers in the order in which they are asked for."),
            Key(
                "others", .integer(1...100_000),
                "So many requests came just before this one, wherever an interceptor limits them, and are not over."),
            Key("expect", .object(.caseExpectation), "What is to come of it.", isRequired: true),
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
                "Why there is no answer, as when: { error } names it."),
        ] + bodies)

    private static let bodies = [
        Key("body", .text(.any), "A body as it is."), Key("json", .json, "A body, written as JSON."),
        Key("file", .text(.file), "A file with the body."),
    ]

    static let caseExpectation = ObjectShape(
        "case_expectation",
        [
            Key("action", .text(.any), "The Action, or none."), Key("tree", .text(.any), "The tree."),
            Key("realm", .text(.any), "The realm."),
            Key(
                "session", .choice(SessionOrigin.allCases.map(\.rawValue)),
                "Where the session comes from that goes to a protected resource."),
            Key("applied", .oneOrMany(.text(.any)), "The interceptors that apply, all of them."),
            Key("not_applied", .oneOrMany(.text(.any)), "Interceptors that do not."),
            Key("took", .duration(0...86_400_000), "How long waits make it take; nothing else takes time."),
            Key("sent", .oneOrMany(.textOr(.noMessage, .caseSent)), "What goes to origins, in order; or none."),
            Key("received", .textOr(.noMessage, .caseReceived), "What the client gets; or none, no valid answer."),
            Key(
                "connection", .choice(DryRun.ConnectionEnd.allCases.map(\.rawValue)),
                "What becomes of the client's connection then."),
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
            Key("whole", .boolean, "False where it ends before its time.", standard: "true"),
        ] + message)

    private static let message = [
        Key(
            "headers", .map(.headerName, .json),
            "Headers: exact, a glob, or ~ and a pattern; null where there is to be none; a list for all lines."),
        Key("body", .text(.any), "The body: exact, a glob, or ~ and a pattern."),
        Key("json", .map(.pointer, .json), "Values of a JSON body by JSON pointer."),
        Key("json_absent", .oneOrMany(.text(.pointer)), "JSON pointers that lead nowhere in it."),
    ]
}

extension TextFormat {
    fileprivate static let noMessage = TextFormat("none, or the keys of a message", isPublic: true) { $0 == "none" }
    fileprivate static let pointer = TextFormat("a JSON pointer, such as /items/0/name, or \"\"", isPublic: true) {
        JSONPointer($0) != nil
    }
}
