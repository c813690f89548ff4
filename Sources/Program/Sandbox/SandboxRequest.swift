import Formats
public import HTTPCodec

/// A complete request with a resolved authority and a body without transfer coding.
public struct SandboxRequest: Sendable {
    public var head: RequestHead
    public var body: [UInt8]

    public init(head: RequestHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }

    /// - Parameter url: an absolute URL, which also sets Host.
    /// - Throws: an `HTTPFault` if `url` is no absolute http or https URL.
    public init(
        _ method: String, _ url: String, fields: [(name: String, value: String)] = [], body: String = ""
    ) throws(HTTPFault) {
        head = try RequestHead(method: method, url: url)
        for field in fields { head.fields.add(field.name, field.value) }
        self.body = Array(body.utf8)
    }

    var query: QueryText { QueryText(head.query ?? "") }
    var form: QueryText { QueryText(String(decoding: body, as: UTF8.self)) }
    /// `http://host:port` as the client wrote it.
    var origin: String { "\(head.target.scheme.name)://\(head.fields.text(head.target.authority))" }
    /// True for GET and HEAD.
    var reads: Bool { head.method == .get || head.method == .head }

    /// The decoded segments of the path without empty ones.
    var segments: [String] { head.path.split(separator: "/").map { PercentCoding.decode($0) } }

    /// The media type in lower case without parameters; nil if the field is missing.
    var mediaType: String? {
        guard let value = head.fields["Content-Type"] else { return nil }
        return ASCII.lowercased(value.prefix { $0 != ";" }.filter { $0 != " " })
    }

    func cookie(_ name: String) -> String? {
        CookieText(head.fields.values(named: "Cookie").joined(separator: "; "))[name]
    }

    /// The credentials of this scheme in `Authorization`.
    func authorization(_ scheme: String) -> String? {
        guard let value = head.fields["Authorization"] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, ASCII.equal(parts[0], scheme) else { return nil }
        return String(parts[1])
    }

    /// AM's URL for the gateway: `am.localhost` for requests to names under `.localhost`, else the request's host.
    func amURL(_ options: SandboxOptions) -> String {
        guard head.host.hasSuffix(".localhost") else { return origin + options.basePath }
        return "\(head.target.scheme.name)://am.localhost:\(head.target.port)\(options.basePath)"
    }

    /// `{"method","url","fields":[[name,value],…],"body" or "bodyBase64","bodyLength"}`
    func echo(url: String) -> JSONValue {
        var echo: JSONValue = [
            "method": .string(head.methodText), "url": .string(url),
            "fields": .array(head.fields.lines.map { .strings([$0.name, $0.value]) }),
        ]
        if let text = String(validating: body, as: UTF8.self) {
            echo["body"] = .string(text)
        } else {
            echo["bodyBase64"] = .string(Base64.encode(body))
        }
        echo["bodyLength"] = .integer(body.count)
        return echo
    }
}
