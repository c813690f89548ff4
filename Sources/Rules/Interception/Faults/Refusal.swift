internal import Formats
internal import HTTPCodec

/// Responds as a server that refuses a request, also to a page of another site.
struct Refusal: RequestEdit, InnerEdit {
    /// What the server sends.
    struct Answer: Sendable {
        fileprivate var response: DirectResponse

        private init(_ status: Int, _ headers: [(String, String)], _ body: [UInt8] = []) {
            response = DirectResponse(status: status, headers: headers.map { Pair($0.0, $0.1) }, body: body)
        }

        /// AM's error envelope (CREST).
        static func server(_ status: Int, _ message: String, errorCode: String? = nil) -> Answer {
            var body: JSONValue = [
                "code": .integer(status), "reason": .string(ReasonPhrase.of(status)), "message": .string(message),
            ]
            body["detail"] = errorCode.map { ["failureUrl": "", "errorCode": .string($0)] }
            return Answer(status, journey, Array(body.serialized.utf8))
        }

        /// An error of RFC 6749 §5.2, in AM's order.
        static func oauth(_ status: Int, _ error: String, _ words: String) -> Answer {
            let body: JSONValue = ["error_description": .string(words), "error": .string(error)]
            let headers = [
                ("Content-Type", "application/json;charset=UTF-8"), ("Cache-Control", "no-store"),
                ("Pragma", "no-cache"),
            ]
            return Answer(status, headers, Array(body.serialized.utf8))
        }

        static func page(_ words: String) -> Answer {
            Answer(200, [("Content-Type", "text/html")], Array("<html><body>\(words)</body></html>\n".utf8))
        }

        static func empty(_ status: Int) -> Answer { Answer(status, []) }

        /// A step, whose body is still to be written.
        fileprivate static let step = Answer(200, journey)

        private static let journey = [
            ("Content-Type", "application/json"), ("Content-API-Version", "protocol=1.0,resource=2.1"),
            ("Cache-Control", "no-cache, no-store, must-revalidate"), ("Pragma", "no-cache"), ("Expires", "0"),
        ]
    }

    static let isLast = true
    static let sparesCalls = true

    private var response: DirectResponse
    /// The template of the body.
    private var template: Template?

    /// - Parameters:
    ///   - retryAfter: in seconds.
    ///   - field: a further header.
    init(_ answer: Answer, retryAfter: Int? = nil, field: (name: String, value: String)? = nil) {
        response = answer.response
        if let retryAfter { response.headers.append(Pair("Retry-After", String(retryAfter))) }
        if let field { response.headers.append(Pair(field.name, field.value)) }
    }

    /// A step that waits, with the authId of the request.
    static let polling: Refusal = {
        let callback: JSONValue = [
            "type": "PollingWaitCallback",
            "output": [
                ["name": "waitTime", "value": "1000"], ["name": "message", "value": "Waiting for your approval"],
            ],
        ]
        var step = Refusal(.step)
        step.template = JSONPointer("/authId").map { authId in
            Template(
                [
                    .text("{\"authId\":\""), .value(.requestJSON(authId), isQuoted: true),
                    .text("\",\"callbacks\":[\(callback.serialized)]}"),
                ], .json)
        }
        return step
    }()

    var templates: [Template] { [template].compactMap { $0 } }

    func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        guard let template else { return self }
        guard let text = try filler.text(template, "the body") else { return nil }
        var filled = self
        filled.response.body = Array(text.utf8)
        return filled
    }

    func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        guard let origin = head.fields["Origin"] else { return .respond(response) }
        // as AM's CORS filter permits it: without this, a page could not read the refusal
        var response = response
        response.headers += [
            Pair("Access-Control-Allow-Origin", origin), Pair("Access-Control-Allow-Credentials", "true"),
            Pair("Access-Control-Expose-Headers", "WWW-Authenticate,Retry-After"), Pair("Vary", "Origin"),
        ]
        return .respond(try response.checked())
    }
}
