extension KeyTable {
    static let action = [
        Key("name", .text(.actionName), "Name of the Action, in capitals.", isRequired: true),
        Key("when", .object(.condition), "The requests that are this Action.", isRequired: true),
    ]

    static let interceptor = [
        Key("name", .text(.label), "Unique; stands in log and answers.", isRequired: true),
        Key("when", .object(.condition), "Which exchanges it concerns; all where it is missing."),
        Key("request", .list(.object(.requestEdit)), "Edits of the request, in this order.", standard: "[]"),
        Key("response", .list(.object(.responseEdit)), "Edits of the response, in this order.", standard: "[]"),
    ]

    static let condition = [
        Key("action", .matcher(.action), "What the request means to AM."),
        Key("tree", .matcher(.text), "The tree that is called."),
        Key("type", .matcher(.text), "How the tree was started: service, composite_advice."),
        Key("realm", .matcher(.realm), "The realm as a path."),
        Key("platform", .matcher(.text), "The SDK's platform."),
        Key("scheme", .matcher(.scheme), "http or https."),
        Key("host", .matcher(.host), "The host without its port."),
        Key("port", .matcher(.port), "The port."),
        Key("path", .matcher(.path), "The path without the query."),
        Key("method", .matcher(.method), "The method."),
        Key("header", .map(.headerName, .matcher(.text)), "Headers by name."),
        Key("query", .map(.name, .matcher(.text)), "Query parameters by name."),
        Key("cookie", .map(.cookieName, .matcher(.text)), "Cookies by name."),
        Key("status", .matcher(.status), "The response's status: 401, 5xx, 400-499."),
        Key("content_type", .matcher(.contentType), "The response's content type without parameters."),
        Key("any", .list(.object(.condition)), "One of these holds."),
        Key("not", .object(.condition), "This does not hold."),
    ]

    private static let nameOrGlob = Shape.oneOrMany(.text(.name))
    private static let headers = Shape.map(.headerName, .text(.headerValue))
    private static let parameters = Shape.map(.name, .text(.any))

    static let requestEdit = [
        Key("set_header", headers, "Replaces or adds headers."),
        Key("add_header", headers, "Adds headers beside those of the name."),
        Key("remove_header", nameOrGlob, "Removes headers by name or glob."),
        Key("set_query", parameters, "Replaces or adds query parameters."),
        Key("add_query", parameters, "Adds query parameters beside those of the name."),
        Key("remove_query", nameOrGlob, "Removes query parameters by name or glob."),
        Key("set_cookie", .object(.cookie), "Sends a cookie, where domain, path and secure allow it."),
        Key("remove_cookie", nameOrGlob, "Removes cookies by name or glob."),
        Key("set_method", .text(.method), "Replaces the method."),
        Key("set_url", .text(.url), "Replaces the whole URL."),
        Key("set_host", .text(.authority), "Replaces host and port."),
        Key("set_path", .text(.path), "Replaces the path; the query stays."),
        Key(
            "rewrite_url", .map(.name, .text(.any)),
            "Replaces what \"~pattern\" finds in the whole URL; $1 is its first group."),
        Key("respond", .object(.answer), "Answers here, without the origin."),
        Key("abort", .textOr(.any, .abort), "Ends the exchange with 502."),
    ]

    static let responseEdit = [
        Key("set_header", headers, "Replaces or adds headers."),
        Key("add_header", headers, "Adds headers beside those of the name."),
        Key("remove_header", nameOrGlob, "Removes headers by name or glob."),
        Key("set_status", .integer(200...599), "Replaces the status."),
        Key("set_cookie", .object(.cookie), "Adds a Set-Cookie line."),
        Key("respond", .object(.answer), "Answers in the origin's place."),
        Key("abort", .textOr(.any, .abort), "Ends the exchange with 502."),
    ]

    static let cookie = [
        Key("name", .text(.cookieName), "Name.", isRequired: true),
        Key("value", .text(.cookieValue), "Value.", isRequired: true),
        Key("domain", .text(.cookieDomain), "Hosts it is for."),
        Key("path", .text(.cookiePath), "Paths it is for."),
        Key("secure", .boolean, "For https alone.", standard: "false"),
        Key("http_only", .boolean, "Kept from scripts.", standard: "false"),
    ]

    static let answer = [
        Key("status", .integer(200...599), "Status.", standard: "200"),
        Key("headers", headers, "Headers.", standard: "{}"),
        Key("json", .json, "A body, written as JSON."),
        Key("text", .text(.any), "A body of plain text."),
        Key("body", .text(.any), "A body as it is."),
        Key("content_type", .text(.headerValue), "Content type of the body."),
    ]

    static let abort = [
        Key("reason", .text(.any), "Told to the client and in the log.")
    ]
}
