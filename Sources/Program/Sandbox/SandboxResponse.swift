internal import Formats
internal import HTTPCodec

/// A response before framing, which depends on the kind of body.
public struct SandboxResponse: Sendable {
    public enum Body: Sendable {
        /// With Content-Length.
        case bytes([UInt8])
        /// Chunked, in pieces of at most `size` bytes.
        case chunked([UInt8], size: Int)
        /// Ended by closing the connection.
        case untilClose([UInt8])

        /// The content in any framing.
        public var content: [UInt8] {
            switch self {
            case .bytes(let bytes), .chunked(let bytes, _), .untilClose(let bytes): bytes
            }
        }
    }

    public var status: Int
    public var fields: [(name: String, value: String)]
    public var body: Body
    /// The delay of the response in milliseconds.
    public var delay = 0
    /// True to reset the connection instead.
    var resets = false
    /// The mails of this request, one log line each.
    public var mails: [String] = []
    /// The pushes to deliver.
    var pushes: [[UInt8]] = []
    /// A short description for the log, without secrets.
    public var note: String

    public init(_ status: Int, note: String, fields: [(name: String, value: String)] = [], body: Body = .bytes([])) {
        self.status = status
        self.note = note
        self.fields = fields
        self.body = body
    }

    /// The first field with this name.
    public subscript(_ name: String) -> String? {
        fields.first { ASCII.equal($0.name, name) }?.value
    }

    public func values(named name: String) -> [String] {
        fields.filter { ASCII.equal($0.name, name) }.map(\.value)
    }

    /// The response with another field.
    func adding(_ name: String, _ value: String) -> SandboxResponse {
        var response = self
        response.fields.append((name, value))
        return response
    }

    private static func typed(_ type: String, _ text: String, _ status: Int, _ note: String) -> SandboxResponse {
        SandboxResponse(status, note: note, fields: [("Content-Type", type)], body: .bytes(Array(text.utf8)))
    }

    static func text(_ status: Int, _ text: String, note: String) -> SandboxResponse {
        typed("text/plain; charset=utf-8", text, status, note)
    }

    static func html(_ page: String, note: String) -> SandboxResponse {
        typed("text/html; charset=utf-8", page, 200, note)
    }

    static func json(_ status: Int, _ value: JSONValue, note: String) -> SandboxResponse {
        typed("application/json;charset=UTF-8", value.serialized, status, note)
    }

    static func redirect(_ status: Int, to location: String, note: String) -> SandboxResponse {
        SandboxResponse(status, note: note, fields: [("Location", location)])
    }

    /// AM's error envelope: `{"code":403,"reason":"Forbidden","message":"…"[,"detail":{…}]}`.
    static func fault(_ status: Int, _ message: String, detail: JSONValue? = nil, note: String? = nil)
        -> SandboxResponse
    {
        var envelope: JSONValue = [
            "code": .integer(status), "reason": .string(ReasonPhrase.of(status)), "message": .string(message),
        ]
        envelope["detail"] = detail
        return json(status, envelope, note: note ?? message)
    }

    static func notFound(_ request: SandboxRequest, note: String) -> SandboxResponse {
        fault(404, "Resource '\(request.head.path)' not found", note: note)
    }

    /// The response of a failed login.
    static func loginFailure(_ status: Int, _ message: String, errorCode: String, note: String) -> SandboxResponse {
        let detail: JSONValue = ["failureUrl": "", "errorCode": .string(errorCode)]
        return fault(status, message, detail: detail, note: "\(note) (errorCode \(errorCode))")
    }

    static func methodNotAllowed(_ allowed: String) -> SandboxResponse {
        fault(405, "Method not allowed", note: "only \(allowed) here").adding("Allow", allowed)
    }
}
