/// A response as an interceptor sees it.
public struct Response: Equatable, Sendable {
    public var status: Int
    /// Usher writes the fields that frame the message or concern one connection. Changes to them are ignored and logged.
    public var headers: Headers
    /// The body without content codings; empty if there is none. Nil unless the interceptor sets `wantsBody`.
    public var body: [UInt8]?
    /// Values that this interceptor keeps for the exchange, across its phases and attempts. The returned values are kept. Other
    /// interceptors do not see them.
    public var state: [String: String]

    public init(
        status: Int = 200, headers: Headers = Headers(), body: [UInt8]? = nil, state: [String: String] = [:]
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.state = state
    }

    /// The body as text; nil if there is none, or if it is not UTF-8.
    public var text: String? {
        get { body.flatMap { String(validating: $0, as: UTF8.self) } }
        set { body = newValue.map { Array($0.utf8) } }
    }
}
