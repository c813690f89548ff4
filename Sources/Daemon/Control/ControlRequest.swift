public import Formats
public import HTTPCodec

/// A complete request to the admin API.
public struct ControlRequest: Sendable {
    public var method: String
    /// The decoded segments: `["v1", "transactions"]`. Empty segments are kept, so that an empty id does not match the whole
    /// list.
    public var path: [String]
    /// The query as received, without the question mark.
    public var query: String?
    /// The validated arguments of the route, set once it is found.
    public var arguments = ControlArguments()
    public var fields: FieldTable
    public var body: [UInt8]
    /// True if the client may see secrets.
    public var isOwner = false
    public var entrance = ControlDoor.Entrance.port
    /// Monotonic milliseconds.
    public var now: Int

    /// - Parameter path: with or without a query.
    public init(_ method: String, _ path: String, fields: FieldTable = FieldTable(), body: [UInt8] = [], now: Int = 0) {
        self.method = method
        // by bytes: a combining mark after the question mark would join it in one Character
        let bytes = path.utf8
        let end = bytes.firstIndex(of: 0x3F) ?? bytes.endIndex
        if end != bytes.endIndex { query = String(Substring(bytes[bytes.index(after: end)...])) }
        let whole = Substring(bytes[..<end])
        let path = whole.hasPrefix("/") ? whole.dropFirst() : whole
        self.path = path.split(separator: "/", omittingEmptySubsequences: false).map { PercentCoding.decode($0) }
        self.fields = fields
        self.body = body
        self.now = now
    }

    /// The body as a JSON object; an empty one without a body.
    func objectOrNothing() throws(ControlProblem) -> JSONValue { body.isEmpty ? .object([]) : try object() }

    /// The body as a JSON object.
    public func object() throws(ControlProblem) -> JSONValue {
        guard let type = fields["Content-Type"].flatMap({ MediaType($0) }), type.type == "application",
            type.subtype == "json"
        else {
            throw ControlProblem(415, "the body must be JSON, with Content-Type: application/json")
        }
        guard let value = try? JSONValue(parsing: body), value.members != nil else {
            throw ControlProblem(400, "the body is not a JSON object")
        }
        return value
    }
}
