internal import Formats
public import HTTPCodec
internal import Interception

/// An advice in the form that a client understands which steps up by itself.
public struct WrittenAdvice: Sendable {
    public let status: Int
    public let fields: [(name: String, value: String)]
    public let body: [UInt8]

    /// - Parameters:
    /// - realm: one of the configured realms.
    /// - request: the request as the client sent it.
    public init(
        _ advice: Advice, as form: Advice.Source, realm: String, about request: RequestHead,
        _ policy: AuthorizationPolicy
    ) {
        let server = policy.server.url
        switch form {
        case .header:
            status = 401
            let advices = Base64.encode(Array(Self.advices(advice).serialized.utf8))
            var challenge = Challenge(scheme: "SSOADVICE")
            challenge.parameters = [("realm", realm), ("advices", advices), ("am_uri", "\(server)/")]
            fields = [("WWW-Authenticate", challenge.text)]
            body = []
        case .redirect:
            status = 307
            let parts = [
                ("goto", Self.back(to: request, advice, policy)), ("realm", realm),
                ("authIndexType", "composite_advice"),
                ("authIndexValue", advice.xml),
            ]
            let query = parts.map { "\($0.0)=\(PercentCoding.encode($0.1))" }.joined(separator: "&")
            fields = [("Location", "\(server)/?\(query)")]
            body = []
        case .body:
            status = 403
            fields = [("Content-Type", "application/json")]
            let decision: JSONValue = [
                "resource": .string(request.url), "actions": [:], "attributes": [:], "advices": Self.advices(advice),
                "ttl": 0,
            ]
            body = Array(decision.serialized.utf8)
        }
    }

    private static func advices(_ advice: Advice) -> JSONValue {
        .object(advice.conditions.map { .init($0.name, .array($0.values.map { .string($0) })) })
    }

    /// The target of AM's page after the step-up: the resource, with the transaction as clients present it.
    private static func back(to request: RequestHead, _ advice: Advice, _ policy: AuthorizationPolicy) -> String {
        guard let id = advice.transactionId, case .query(let name) = policy.presentToGateway else { return request.url }
        var query = QueryText(request.query ?? "")
        query.removeAll { $0 == name }
        query.add(name, id)
        return "\(request.originText)\(request.path)?\(query.text)"
    }
}

extension WrittenAdvice {
    /// Fields that describe the old body or are replaced by the new form.
    private static let replaced: Set<String> = [
        "content-type", "content-length", "content-encoding", "content-language", "content-location", "content-range",
        "content-disposition", "etag", "last-modified", "accept-ranges", "transfer-encoding", "location",
        "www-authenticate", "content-digest", "repr-digest", "digest", "content-md5", "cache-control", "expires", "age",
        "refresh",
    ]

    /// The original response with its content replaced by the advice.
    public func replacing(_ original: ResponseHead) -> ResponseHead {
        var head = ResponseHead(status: status, reason: ReasonPhrase.of(status))
        for line in original.fields.lines where !Self.replaced.contains(ASCII.lowercased(line.name)) {
            head.fields.add(line.name, line.value)
        }
        for field in fields { head.fields.add(field.name, field.value) }
        head.fields.add("Cache-Control", "no-store")
        // a script of another origin sees only exposed fields
        if head.fields["Access-Control-Allow-Origin"] != nil, fields.contains(where: { $0.name == "WWW-Authenticate" })
        {
            head.fields.add("Access-Control-Expose-Headers", "WWW-Authenticate")
        }
        head.fields.set("Content-Length", String(body.count))
        return head
    }
}
