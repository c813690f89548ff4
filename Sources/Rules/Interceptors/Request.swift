/// A request as an interceptor sees it.
public struct Request: Equatable, Sendable {
    public var method: String
    /// The complete URL to be requested.
    public var url: String
    /// Usher writes the fields that frame the message or concern one connection. Changes to them are ignored and logged.
    public var headers: Headers
    /// The body without content codings; empty if there is none. Nil unless the interceptor sets `wantsBody`.
    public var body: [UInt8]?
    /// Values that this interceptor keeps for the exchange, across its phases and attempts. The returned values are kept. Other
    /// interceptors do not see them.
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

    /// A request's URL has no fragment.
    private var parts: (place: String, query: Substring?) {
        guard let mark = url.utf8.firstIndex(of: 0x3F) else { return (url, nil) }
        return (String(url[..<mark]), url[url.utf8.index(after: mark)...])
    }

    /// The body as text; nil if there is none, or if it is not UTF-8.
    public var text: String? {
        get { body.flatMap { String(validating: $0, as: UTF8.self) } }
        set { body = newValue.map { Array($0.utf8) } }
    }
}
