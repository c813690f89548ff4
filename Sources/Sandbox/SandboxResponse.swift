internal import Formats
internal import HTTPCodec

/// An answer, before framing: the service adds what its body's kind demands.
public struct SandboxResponse: Sendable {
    public enum Body: Sendable {
        /// With Content-Length.
        case bytes([UInt8])
        /// Chunked, in pieces of at most `size` bytes.
        case chunked([UInt8], size: Int)
        /// Ended by closing the connection.
        case untilClose([UInt8])

        /// The content, whatever the framing.
        public var content: [UInt8] {
            switch self {
            case .bytes(let bytes), .chunked(let bytes, _), .untilClose(let bytes): bytes
            }
        }
    }

    public var status: Int
    public var fields: [(name: String, value: String)]
    public var body: Body
    /// Milliseconds to wait before the answer goes out.
    public var delay = 0
    /// The connection is reset instead.
    var resets = false
    /// What was mailed while it was made, each a line for the log.
    public var mails: [String] = []
    /// What this answer means, for the log: a few words, no secret in them.
    public var note: String

    public init(_ status: Int, note: String, fields: [(name: String, value: String)] = [], body: Body = .bytes([])) {
        self.status = status
        self.note = note
        self.fields = fields
        self.body = body
    }

    /// The first field of that name.
    public subscript(_ name: String) -> String? {
        fields.first { ASCII.equal($0.name, name) }?.value
    }

    public func values(named name: String) -> [String] {
        fields.filter { ASCII.equal($0.name, name) }.map(\.value)
    }

    static func text(_ status: Int, _ text: String, note: String) -> SandboxResponse {
        SandboxResponse(
            status, note: note, fields: [("Content-Type", "text/plain; charset=utf-8")], body: .bytes(Array(text.utf8)))
    }

    static func json(_ status: Int, _ value: JSONValue, note: String) -> SandboxResponse {
        SandboxResponse(
            status, note: note, fields: [("Content-Type", "application/json;charset=UTF-8")],
            body: .bytes(Array(value.serialized.utf8)))
    }

    static func redirect(_ status: Int, to location: String, note: String) -> SandboxResponse {
        SandboxResponse(status, note: note, fields: [("Location", location)])
    }

    /// AM's error envelope: `{"code":403,"reason":"Forbidden","message":"…"[,"detail":{…}]}`.
    static func fault(_ status: Int, _ message: String, detail: JSONValue? = nil, note: String? = nil)
        -> SandboxResponse
    {
        var envelope = JSONValue.record([
            "code": .integer(status), "reason": .string(ReasonPhrase.of(status)), "message": .string(message),
        ])
        envelope["detail"] = detail
        return json(status, envelope, note: note ?? message)
    }

    static func methodNotAllowed(_ allowed: String) -> SandboxResponse {
        var response = fault(405, "Method not allowed", note: "only \(allowed) here")
        response.fields.append(("Allow", allowed))
        return response
    }
}

extension JSONValue {
    static func record(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member($0.key, $0.value) })
    }

    static func strings(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map { .string($0) }) }
}
