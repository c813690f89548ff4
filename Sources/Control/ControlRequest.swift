public import Formats
public import HTTPCodec

/// A request to the running daemon, whole.
public struct ControlRequest: Sendable {
    public var method: String
    /// Its segments, decoded: `["v1", "transactions"]`. One that is empty stays: nobody means everything by it.
    public var path: [String]
    /// As it came, without the question mark.
    public var query: String?
    /// What of path and query the route takes, once it is found.
    public var arguments = ControlArguments()
    public var fields: FieldTable
    public var body: [UInt8]
    /// Who asks may be shown secrets.
    public var isOwner = false
    /// Monotonic milliseconds.
    public var now: Int

    /// - Parameter path: with a query behind it or without.
    public init(_ method: String, _ path: String, fields: FieldTable = FieldTable(), body: [UInt8] = [], now: Int = 0) {
        self.method = method
        // by bytes: a mark behind the question mark would make it another character
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

    /// The body as a JSON object.
    public func object() throws(ControlProblem) -> JSONValue {
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
