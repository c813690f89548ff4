/// The description of a route. `/v1/openapi.json` is generated from it.
public struct RouteDescription: Sendable {
    /// A unique name such as `listTransactions`.
    public var id: String
    public var summary: String
    /// All path parameters and the query parameters. Others are refused with 400.
    public var parameters: [RouteParameter]
    /// The shape of the JSON request body; nil if none is read.
    public var body: ControlShape?
    public var needsBody: Bool
    public var answers: [RouteAnswer]
    /// The problems beyond those that apply to all routes.
    public var problems: [Int: String]
}

/// A successful response of a route.
public struct RouteAnswer: Sendable {
    public var status: Int
    public var type: String
    /// Nil if the content is not JSON, or there is none.
    public var shape: ControlShape?
    public var doc: String

    /// A JSON response.
    public init(_ doc: String, status: Int = 200, _ shape: ControlShape) {
        self.doc = doc
        self.status = status
        self.shape = shape
        type = "application/json"
    }

    /// Another response; the type is empty without content.
    public init(_ doc: String, status: Int = 200, type: String) {
        self.doc = doc
        self.status = status
        self.type = type
    }
}
