internal import Formats
internal import HTTPCodec

/// Faults of AM.
extension FaultCatalogue {
    /// A refusal of `authenticate`.
    private static func refused(_ status: Int, _ message: String, _ code: String? = nil) -> [any RequestEdit] {
        [Refusal(.server(status, message, errorCode: code))]
    }

    static let logins: [NamedFault] = [
        NamedFault(
            "am-authid-expired", FaultScope(.authenticate), request: refused(401, "Session has timed out", "110"),
            sees: "401, errorCode 110: the step came too late, or twice",
            remedy: "start the journey anew; never send the step again"),
        NamedFault(
            "am-authid-invalid", FaultScope(.authenticate), request: refused(400, "AuthId JWT Signature not valid"),
            sees: "400: the authId is damaged or another realm's",
            remedy: "start the journey anew; return the newest authId unchanged"),
        NamedFault(
            "am-wrong-realm", .login, request: refused(400, "Domain is invalid", "108"),
            sees: "400, errorCode 108: there is no such realm",
            remedy: "report a configuration error; do not try again"),
        NamedFault(
            "am-tree-unknown", FaultScope(.startAuthenticate), request: refused(400, "No Configuration found", "105"),
            sees: "400, errorCode 105: there is no such tree",
            remedy: "report a configuration error; do not try again"),
        NamedFault(
            "am-login-failed", FaultScope(.authenticate), request: refused(401, "Authentication Failed", "107"),
            sees: "401, errorCode 107: wrong answers, or a node refused",
            remedy: "say so, and start the journey anew if the user wants that"),
        NamedFault(
            "am-account-locked", FaultScope(.authenticate), request: refused(401, "User Locked Out.", "112"),
            sees: "401, errorCode 112: the account is locked",
            remedy: "say so; never try again unasked, which prolongs the lock"),
        NamedFault(
            "am-session-quota", FaultScope(.authenticate),
            request: refused(401, "You have reached your session limit.", "115"),
            sees: "401, errorCode 115: the user has too many sessions",
            remedy: "tell the user to log out elsewhere"),
        NamedFault(
            "am-session-expired", .session, request: [StaleSession()],
            sees: "AM's response to a session that it does not know",
            remedy: "forget the session and its tokens, and log in"),
        NamedFault(
            "am-transaction-expired", .advisedStart, request: refused(401, "Unable to read transaction", "128"),
            sees: "401, errorCode 128: it is unknown, expired or used",
            remedy: "ask the resource again, once, for a new transaction"),
    ]

    static let steps: [NamedFault] = [
        NamedFault(
            "am-journey-suspended", .step,
            response: set(
                "/callbacks",
                [
                    [
                        "type": "SuspendedTextOutputCallback",
                        "output": [
                            [
                                "name": "message",
                                "value":
                                    "An email has been sent to the address you entered. Click the link in that email to proceed.",
                            ],
                            ["name": "messageType", "value": "0"],
                        ],
                    ]
                ]),
            sees: "a step with a SuspendedTextOutputCallback alone",
            remedy: "show its message and end; the mailed link goes on"),
        NamedFault(
            "am-polling-endless", FaultScope(.authenticate), request: [Refusal.polling],
            sees: "a PollingWaitCallback after every answer",
            remedy: "wait as waitTime says, and give up in the end"),
        NamedFault(
            "am-push-denied", .poll, request: refused(401, "Authentication Failed", "107"),
            sees: "401, errorCode 107, to a poll: the user refused the push",
            remedy: "say that it was refused; send no other push unasked"),
        NamedFault(
            "am-push-expired", .poll, request: refused(401, "Session has timed out", "110"),
            sees: "401, errorCode 110, to a poll: nobody answered the push",
            remedy: "stop polling, and offer to start anew"),
        NamedFault(
            "am-callback-unknown", .step,
            response: set(
                "/callbacks/-",
                [
                    "type": "UnknownCallback", "output": [["name": "prompt", "value": "Something new"]],
                    "input": [["name": "IDToken99", "value": ""]],
                ]),
            sees: "a step with a callback of an unknown type",
            remedy: "say that the app is too old; do not crash or leave it out"),
    ]

    static let servers: [NamedFault] = [
        NamedFault(
            "am-clock-skew", .server,
            response: [ShiftedDate(seconds: -3600), ChangedJSON("shortened expires_in") { $0.shortenLife() }],
            sees: "Date an hour behind, and expires_in: 1",
            remedy: "allow for skew, and refresh early"),
        NamedFault(
            "am-jwks-rotated", .keys, response: [ChangedJSON("renamed the keys") { $0.rotateKeys() }],
            sees: "other key ids than those of the tokens",
            remedy: "fetch the keys again, once; then refuse the token"),
        NamedFault(
            "am-json-truncated", .json, response: [ChangedBody("truncated the JSON") { $0.removeLast($0.count / 2) }],
            sees: "half of the JSON, with its Content-Length",
            remedy: "report an error of the server; keep what it has"),
        NamedFault(
            "am-json-invalid", .json,
            response: [
                ChangedBody("made the JSON invalid") { body in
                    if let end = body.lastIndex(of: 0x7D) { body.insert(0x2C, at: end) }
                }
            ],
            sees: "JSON with a comma before its last brace",
            remedy: "report an error of the server; keep what it has"),
        NamedFault(
            "am-page-instead", .server, request: [Refusal(.page("Down for maintenance"))],
            sees: "200 and a page of HTML, as of a portal or a firewall",
            remedy: "check Content-Type; report an error of the server"),
        NamedFault(
            "am-too-many-requests", .server, request: [Refusal(.server(429, "Too Many Requests"), retryAfter: 2)],
            sees: "429 with Retry-After: 2",
            remedy: "wait as Retry-After says, then try again, a few times at most"),
        NamedFault(
            "am-unavailable", .server, request: [Refusal(.server(503, "Service Unavailable"), retryAfter: 2)],
            sees: "503 with Retry-After: 2",
            remedy: "wait as Retry-After says, then try again; keep session and tokens"),
    ]

    private static func set(_ pointer: String, _ value: JSONValue) -> [any ResponseEdit] {
        JSONPointer(pointer).map { [SetJSON([($0, value)])] } ?? []
    }
}

extension JSONValue {
    /// A token that is about to expire.
    fileprivate mutating func shortenLife() { if self["expires_in"] != nil { self["expires_in"] = 1 } }

    /// Names all keys of a JWKS differently.
    fileprivate mutating func rotateKeys() {
        guard let keys = self["keys"]?.items else { return }
        self["keys"] = .array(
            keys.map { key in
                var key = key
                key["kid"] = .string("rotated-\(key["kid"]?.text ?? "")")
                return key
            })
    }
}
