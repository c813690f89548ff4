import HTTPCodec
public import Interception

/// A request head read from bytes, as it reaches the rules. Lines end in LF here and in CRLF on the wire; the first is
/// `METHOD URL`, a Host field is added where none stands.
func request(_ text: String, scheme: Target.Scheme = .http) throws -> RequestHead {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    lines[0] += " HTTP/1.1"
    if !lines.contains(where: { $0.lowercased().hasPrefix("host:") }) {
        let url = lines[0].split(separator: " ")[1]
        let authority = url.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).first ?? "localhost"
        lines.append("Host: \(authority.split(separator: "?").first ?? "")")
    }
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    var parser = HeadParser()
    var head = RequestHead()
    let count = try parser.parse(bytes.span, into: &head, limits: HeadLimits())
    guard count == bytes.count else { throw IncompleteHead() }
    try head.settleHost(scheme: scheme)
    return head
}

func response(_ text: String) throws -> ResponseHead {
    let bytes = Array((text.split(separator: "\n").joined(separator: "\r\n") + "\r\n\r\n").utf8)
    var parser = HeadParser()
    var head = ResponseHead()
    let count = try parser.parse(bytes.span, into: &head, limits: HeadLimits())
    guard count == bytes.count else { throw IncompleteHead() }
    return head
}

struct IncompleteHead: Error {}

final class Flows: FlowStore {
    var known: [String: ActionPayload] = [:]

    func remember(authId: String, payload: ActionPayload) { known[authId] = payload }
    func recall(authId: String) -> ActionPayload? { known[authId] }
}

extension Plan {
    /// The whole request phase, as its user runs it.
    func request(
        _ head: RequestHead, _ classification: Classification? = nil
    ) -> (head: RequestHead, outcome: Outcome) {
        guard let first = firstRequestMatch(head, classification) else { return (head, Outcome()) }
        var edited = head
        var context = EditContext(classification)
        let outcome = applyRequest(from: first, to: &edited, &context)
        return (edited, outcome)
    }

    /// The request phase from the first rule on.
    func request(_ head: inout RequestHead) -> Outcome {
        var context = EditContext()
        return applyRequest(from: 0, to: &head, &context)
    }

    func response(
        _ head: ResponseHead, to request: RequestHead, _ classification: Classification? = nil
    ) -> (head: ResponseHead, outcome: Outcome) {
        guard let first = firstResponseMatch(head, request: request, classification) else { return (head, Outcome()) }
        var edited = head
        var context = EditContext(classification)
        let outcome = applyResponse(from: first, to: &edited, request: request, &context)
        return (edited, outcome)
    }
}

/// What a plan that explains itself says of each rule in the request phase.
func explain(
    _ rules: [Rule], _ head: RequestHead, _ classification: Classification? = nil
) -> [RuleVerdict] {
    Plan(rules: rules, explains: true).request(head, classification).outcome.judgement?.verdicts ?? []
}

extension Classification {
    static func of(_ action: Action, tree: String? = nil, type: String? = nil, realm: String? = "/") -> Classification {
        Classification(
            action: action, payload: type.map { ActionPayload(tree: tree, type: $0) }, realm: realm, evidence: "")
    }
}

/// As the log has it: `name: words`.
extension RuleNote: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {
        let words = value.split(separator: ": ", maxSplits: 1).map(String.init)
        self.init(words[0], words.count > 1 ? words[1] : "", value.contains("aborted: ") ? .aborted : .applied)
    }
}

extension RuleNote {
    var text: String { "\(interceptor): \(words)" }
}
