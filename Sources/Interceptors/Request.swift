/// A request as an interceptor sees it.
public struct Request: Equatable, Sendable {
    public var method: String
    /// The whole URL, as it goes out.
    public var url: String
    /// What frames the message or concerns one connection is Usher's own to write: changes to that are left out, which the
    /// log says.
    public var headers: Headers
    /// Out of its content codings; empty where there is none. Nil for an interceptor that does not say `wantsBody`.
    public var body: [UInt8]?
    /// What this interceptor of the configuration keeps of the exchange, through its phases and attempts: what it returns is
    /// kept. Others do not see it.
    public var state: [String: String]

    public init(
        method: String = "GET", url: String, headers: Headers = Headers(), body: [UInt8]? = nil,
        state: [String: String] = [:]
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.state = state
    }

    /// The parameters of the URL.
    public var query: Query {
        get { Query(parts.query ?? "") }
        set {
            let parts = parts
            url = newValue.isEmpty ? parts.place : "\(parts.place)?\(newValue.written)"
        }
    }

    /// A URL on its way has no fragment.
    private var parts: (place: String, query: Substring?) {
        guard let mark = url.utf8.firstIndex(of: 0x3F) else { return (url, nil) }
        return (String(url[..<mark]), url[url.utf8.index(after: mark)...])
    }

    /// The body as text; nil where there is none, or no UTF-8.
    public var text: String? {
        get { body.flatMap { String(validating: $0, as: UTF8.self) } }
        set { body = newValue.map { Array($0.utf8) } }
    }
}
