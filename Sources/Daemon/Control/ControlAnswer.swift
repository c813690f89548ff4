public import Formats
internal import HTTPCodec

/// A response of the admin API.
public struct ControlAnswer: Sendable {
    public enum Content: Sendable {
        case json(JSONValue)
        /// The reason why nothing was done (RFC 9457).
        case problem(JSONValue)
        case bytes([UInt8], type: String)
        case none
    }

    public var status: Int
    public var fields: [FieldLine] = []
    public var content: Content

    public init(_ body: JSONValue, status: Int = 200) {
        self.init(.json(body), status: status)
    }

    public init(_ content: Content, status: Int) {
        self.status = status
        self.content = content
    }

    /// Content of another type, such as `text/plain; version=0.0.4; charset=utf-8`.
    public init(_ bytes: [UInt8], type: String, status: Int = 200) {
        self.init(.bytes(bytes, type: type), status: status)
    }

    /// The JSON body; null for other content.
    public var body: JSONValue {
        switch content {
        case .json(let body), .problem(let body): body
        case .bytes, .none: .null
        }
    }

    public var isProblem: Bool { if case .problem = content { true } else { false } }

    /// The bytes and media type to send; nil without content.
    var message: (bytes: [UInt8], type: String)? {
        switch content {
        case .json(let body): (Self.text(body), "application/json")
        case .problem(let body): (Self.text(body), "application/problem+json")
        case .bytes(let bytes, let type): (bytes, type)
        case .none: nil
        }
    }

    private static func text(_ body: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        body.write(to: &bytes)
        bytes.append(0x0A)
        return bytes
    }

    public struct FieldLine: Equatable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

/// The reason why nothing was done, as `application/problem+json` (RFC 9457).
public struct ControlProblem: Error, Equatable, Sendable {
    public let status: Int
    public let detail: String
    /// The allowed methods, for a 405.
    public var allow: [String] = []
    /// The challenge, for a 401 (RFC 9110 §11.6.1).
    public var challenge: String?
    /// All findings about what the client sent.
    public var faults: [ConfigurationRemark] = []
    /// The seconds before a retry.
    public var retryAfter: Int?

    public init(_ status: Int, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    public var answer: ControlAnswer {
        var body: JSONValue = [
            "type": "about:blank", "title": .string(ReasonPhrase.of(status)), "status": .integer(status),
            "detail": .string(detail),
        ]
        if !faults.isEmpty { body["faults"] = .array(faults.map(\.json)) }
        var answer = ControlAnswer(.problem(body), status: status)
        if !allow.isEmpty { answer.fields.append(.init("Allow", allow.joined(separator: ", "))) }
        if let challenge { answer.fields.append(.init("WWW-Authenticate", challenge)) }
        if let retryAfter { answer.fields.append(.init("Retry-After", "\(retryAfter)")) }
        return answer
    }

    /// The shape of every problem.
    static let shape = ControlShape.object([
        "type": .text, "title": .text, "status": .integer(400...599), "detail": .text,
        "faults?": .list(ConfigurationRemark.shape),
    ])
}
