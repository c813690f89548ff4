public import Formats
public import HTTPCodec

/// An answer of the daemon about itself.
public struct ControlAnswer: Sendable {
    public var status: Int
    public var fields: [FieldLine]
    public var body: JSONValue
    /// A problem, and so of another type (RFC 9457).
    public var isProblem = false

    public init(_ body: JSONValue, status: Int = 200) {
        self.status = status
        fields = []
        self.body = body
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

    public init(_ status: Int, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    public var answer: ControlAnswer {
        var answer = ControlAnswer(
            .object([
                .init("type", .string("about:blank")), .init("title", .string(ReasonPhrase.of(status))),
                .init("status", .integer(status)), .init("detail", .string(detail)),
            ]), status: status)
        answer.isProblem = true
        if !allow.isEmpty { answer.fields.append(.init("Allow", allow.joined(separator: ", "))) }
        return answer
    }
}
