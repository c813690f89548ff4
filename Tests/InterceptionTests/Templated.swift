import Declaration
import Formats
import HTTPCodec
import Testing

@testable import Interception

/// A value of the configuration as its loader hands it on.
func decoded(_ text: String, asJSON: Bool = false) -> Decoded {
    var parts: [TextPart] = []
    var rest = text[...]
    while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
        if start.lowerBound > rest.startIndex { parts.append(.text(String(rest[..<start.lowerBound]))) }
        parts.append(.place(String(rest[start.upperBound..<end])))
        rest = rest[rest.index(after: end)...]
    }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    let content: Decoded.Content
    if parts.contains(where: { if case .place = $0 { true } else { false } }) {
        content = .template(parts)
    } else {
        content = asJSON ? .json((try? JSONValue(parsing: text)) ?? .null) : .text(text)
    }
    return Decoded(position: .start, written: "", content: content)
}

func decoded(_ values: KeyValuePairs<String, Decoded>) -> Decoded {
    var fields = Fields(position: .start)
    for (name, value) in values {
        fields.written.append(name)
        fields.all.append(.init(name: name, position: .start, value: value))
    }
    return Decoded(position: .start, written: "", content: .fields(fields))
}

/// An edit as the configuration makes it; what is wrong with it is an issue.
func made<One: Edit>(_ kind: One.Type, _ value: Decoded, in phase: EditPhase = .request) throws -> One {
    let findings = Findings(file: "usher.yaml")
    var reader = RuleReader(findings: findings, owner: "interceptor a")
    reader.phase = phase
    let edit = try #require(kind.init(value, reader))
    #expect(findings.all.map(\.message) == [])
    return edit
}

/// What is wrong with a value.
func findings(_ text: String, in phase: EditPhase = .request) -> [Findings.Finding] {
    let findings = Findings(file: "usher.yaml")
    var reader = RuleReader(findings: findings)
    reader.phase = phase
    _ = SetHeader(decoded(["X": decoded(text)]), reader)
    return findings.all
}

/// The same numbers in every run.
struct Steps: RandomNumberGenerator {
    var last: UInt64 = 0
    mutating func next() -> UInt64 {
        last += 1
        return last
    }
}

extension Plan {
    /// The whole request phase on a request with its body.
    func applied(
        _ head: RequestHead, body: String = "", _ context: inout EditContext
    ) throws -> (head: RequestHead, body: String, outcome: Outcome) {
        var head = head
        let first = try #require(firstRequestMatch(head, context.classification))
        guard needsRequestBody(from: first, head, &context) else {
            let outcome = applyRequest(from: first, to: &head, &context)
            return (head, body, outcome)
        }
        let done = applyRequest(from: first, to: &head, body: .whole(Array(body.utf8)), &context)
        let bytes = done.body.bytes(insteadOf: Array(body.utf8))
        return (head, String(decoding: bytes, as: UTF8.self), done.outcome)
    }

    func applied(
        _ head: ResponseHead, body: String = "", to request: RequestHead, _ context: inout EditContext
    ) throws -> (head: ResponseHead, body: String, outcome: Outcome) {
        var head = head
        let first = try #require(firstResponseMatch(head, request: request, context.classification))
        guard needsResponseBody(from: first, head, request: request, &context) else {
            let outcome = applyResponse(from: first, to: &head, request: request, &context)
            return (head, body, outcome)
        }
        let done = applyResponse(
            from: first, to: &head, body: .whole(Array(body.utf8)), request: request, &context)
        let bytes = done.body.bytes(insteadOf: Array(body.utf8))
        return (head, String(decoding: bytes, as: UTF8.self), done.outcome)
    }
}
