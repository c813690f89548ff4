public import Formats
internal import HTTPCodec

/// An answer of the daemon about itself.
public struct ControlAnswer: Sendable {
    public enum Content: Sendable {
        case json(JSONValue)
        /// Why nothing was done (RFC 9457).
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

    /// A text of a type of its own, `text/plain; version=0.0.4; charset=utf-8`.
    public init(_ bytes: [UInt8], type: String, status: Int = 200) {
        self.init(.bytes(bytes, type: type), status: status)
    }

    /// Where it is JSON; else null.
    public var body: JSONValue {
        switch content {
        case .json(let body), .problem(let body): body
        case .bytes, .none: .null
        }
    }

    public var isProblem: Bool { if case .problem = content { true } else { false } }

    /// What is sent, and its type; none where there is no content.
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

/// Why nothing was done, as `application/problem+json`.
public struct ControlProblem: Error, Equatable, Sendable {
    public let status: Int
    public let detail: String
    /// The methods that there are, where it was another.
    public var allow: [String] = []
    /// How who asks may show that it may (RFC 9110 §11.6.1).
    public var challenge: String?
    /// Seconds after which it may be asked for once more.
    public var retryAfter: Int?

    public init(_ status: Int, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    public var answer: ControlAnswer {
        var answer = ControlAnswer(
            .problem(
                .object([
                    .init("type", .string("about:blank")), .init("title", .string(ReasonPhrase.of(status))),
                    .init("status", .integer(status)), .init("detail", .string(detail)),
                ])), status: status)
        if !allow.isEmpty { answer.fields.append(.init("Allow", allow.joined(separator: ", "))) }
        if let challenge { answer.fields.append(.init("WWW-Authenticate", challenge)) }
        if let retryAfter { answer.fields.append(.init("Retry-After", "\(retryAfter)")) }
        return answer
    }

    /// What every problem looks like.
    static let shape = ControlShape.object([
        "type": .text, "title": .text, "status": .integer(400...599), "detail": .text,
    ])
}
