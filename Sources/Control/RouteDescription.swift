/// What a route says of itself: the interface's description (`/v1/openapi.json`) is made of nothing else.
public struct RouteDescription: Sendable {
    /// A name of its own among all routes, `listTransactions`.
    public var id: String
    public var summary: String
    /// Those of the path, each of them, and those of the query. What is not here is refused with 400.
    public var parameters: [RouteParameter]
    /// Of the request's body, which is JSON; nil where none is read.
    public var body: ControlShape?
    public var answers: [RouteAnswer]
    /// When it says no, beside what holds for all routes.
    public var problems: [Int: String]

    public init(
        _ id: String, _ summary: String, parameters: [RouteParameter] = [], body: ControlShape? = nil,
        answers: [RouteAnswer], problems: [Int: String] = [:]
    ) {
        self.id = id
        self.summary = summary
        self.parameters = parameters
        self.body = body
        self.answers = answers
        self.problems = problems
    }
}

/// What a route answers when it does what it is asked for.
public struct RouteAnswer: Sendable {
    public var status: Int
    public var type: String
    /// Nil for what is no JSON, or has no content.
    public var shape: ControlShape?
    public var doc: String

    /// JSON.
    public init(_ doc: String, status: Int = 200, _ shape: ControlShape) {
        self.doc = doc
        self.status = status
        self.shape = shape
        type = "application/json"
    }

    /// Something else; of no type where there is no content.
    public init(_ doc: String, status: Int = 200, type: String) {
        self.doc = doc
        self.status = status
        self.type = type
    }
}
