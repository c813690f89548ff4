public import Formats
public import HTTPCodec

/// A request to the running daemon, whole.
public struct ControlRequest: Sendable {
    public var method: String
    /// Its segments, decoded: `["v1", "transactions"]`. One that is empty stays: nobody means everything by it.
    public var path: [String]
    public var fields: FieldTable
    public var body: [UInt8]
    /// Monotonic milliseconds.
    public var now: Int

    public init(_ method: String, _ path: String, fields: FieldTable = FieldTable(), body: [UInt8] = [], now: Int = 0) {
        self.method = method
        let path = path.hasPrefix("/") ? path.dropFirst() : path[...]
        self.path = path.split(separator: "/", omittingEmptySubsequences: false).map { PercentCoding.decode($0) }
        self.fields = fields
        self.body = body
        self.now = now
    }

    /// The body as a JSON object.
    func object() throws(ControlProblem) -> JSONValue {
        guard let type = fields["Content-Type"].flatMap({ MediaType($0) }), type.type == "application",
            type.subtype == "json"
        else {
            throw ControlProblem(415, "the body has to be JSON, with Content-Type: application/json")
        }
        guard let value = try? JSONValue(parsing: body), value.members != nil else {
            throw ControlProblem(400, "the body is no JSON object")
        }
        return value
    }
}
