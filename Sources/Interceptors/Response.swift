/// A response as an interceptor sees it.
public struct Response: Equatable, Sendable {
    public var status: Int
    /// What frames the message or concerns one connection is Usher's own to write: changes to that are left out, which the
    /// log says.
    public var headers: Headers
    /// Out of its content codings; empty where there is none. Nil for an interceptor that does not say `wantsBody`.
    public var body: [UInt8]?
    /// What this interceptor of the configuration keeps of the exchange, through its phases and attempts: what it returns is
    /// kept. Others do not see it.
    public var state: [String: String]

    public init(
        status: Int = 200, headers: Headers = Headers(), body: [UInt8]? = nil, state: [String: String] = [:]
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.state = state
    }

    /// The body as text; nil where there is none, or no UTF-8.
    public var text: String? {
        get { body.flatMap { String(validating: $0, as: UTF8.self) } }
        set { body = newValue.map { Array($0.utf8) } }
    }
}
