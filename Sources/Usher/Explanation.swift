public import Configuration
public import Formats
import HTTPCodec
import Interception
import ProxyCore

/// What Usher would make of one request: the answer of `usher explain`.
public struct Explanation {
    /// Why the text is no request, in one line.
    public struct Fault: Error, Sendable {
        public let description: String
    }

    private let given: GivenRequest
    private let dryRun: DryRun
    private let redaction: Redaction
    /// What is said of each interceptor.
    private let rules: [RuleVerdict]

    /// - Parameter text: an HTTP message with an absolute-form request line, lines ended by CRLF or LF, or a curl command.
    /// - Throws: `Fault` when it can be read as neither.
    public init(_ text: [UInt8], snapshot: Snapshot) throws(Fault) {
        given = try GivenRequest(text)
        dryRun = DryRun(
            given.message, in: given.tunnel, snapshot.settings, pages: Supervisor.pages(snapshot, at: nil))
        if case .incomplete = dryRun.outcome {
            throw Fault(description: "the message's body does not come to its end")
        }
        rules =
            dryRun.interceptors
            ?? snapshot.settings.rules.map {
                RuleVerdict(
                    name: $0.name, matched: false, because: "the request does not come as far as the interceptors")
            }
        redaction = Redaction(snapshot.settings)
    }

    // MARK: what came of it

    private var classification: Classification {
        if let found = dryRun.classification { return found }
        return dryRun.interceptors == nil ? Self.unclassified : .unknownHost
    }

    private static let unclassified = Classification(
        action: nil, evidence: "The request does not come as far as being classified.")

    private var forwarded: (head: RequestHead, body: [UInt8])? {
        if case .sent(let head, let body) = dryRun.outcome { (head, body) } else { nil }
    }

    /// Why it is not sent on.
    private var end: String {
        guard case .answered(let status) = dryRun.outcome else {
            return "a tunnel is made, and what goes through it is another request: explain that one by its whole URL"
        }
        for moment in dryRun.moments {
            switch moment {
            case .responded(let interceptor, let status):
                return "answered by interceptor \(interceptor) with status \(status)"
            case .failed(_, let details): return "answered by usher with status \(status): \(details)"
            default: continue
            }
        }
        return "answered by usher with status \(status)"
    }

    private var protection: String? {
        dryRun.resource.map {
            "protected by \($0)"
                + (dryRun.moments.contains(.leftToClient) ? "; the client asked to handle the advice itself" : "")
        }
    }

    /// By way of which other proxy it goes.
    private var route: String? {
        for case .routed(let peer) in dryRun.moments { return peer }
        return nil
    }

    // MARK: telling

    /// The shape that `usher explain --json` promises.
    public var json: JSONValue { redaction.document(whole) }

    private var whole: JSONValue {
        func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
        return .object([
            .init("action", optional(classification.action?.rawValue)),
            .init(
                "payload",
                classification.payload.map {
                    .object([.init("tree", optional($0.tree)), .init("type", optional($0.type))])
                } ?? .null),
            .init("realm", optional(classification.realm)),
            .init("evidence", .string(classification.evidence)),
            .init(
                "interceptors",
                .array(
                    rules.map {
                        .object([
                            .init("name", .string($0.name)), .init("matched", .bool($0.matched)),
                            .init("because", .string($0.because)),
                        ])
                    })),
            .init("request", shape(given.head, given.body)),
            .init("forwarded", forwarded.map { shape($0.head, $0.body) } ?? .null),
        ])
    }

    private func shape(_ head: RequestHead, _ body: [UInt8]) -> JSONValue {
        .object([
            .init("method", .string(head.methodText)),
            .init("url", .string(head.url)),
            .init(
                "headers", .array(head.fields.lines.map { .array([.string($0.name), .string($0.value)]) })),
            .init("body", .string(String(decoding: body, as: UTF8.self))),
        ])
    }

    /// The same for a person.
    public var text: String {
        var lines = ["\(given.head.methodText) \(given.head.url)", ""]
        lines.append("Action       \(classification.action?.rawValue ?? "none")")
        if let payload = classification.payload {
            lines.append("Tree         \(payload.tree ?? "the default") (\(payload.type ?? "type unknown"))")
        }
        if let realm = classification.realm { lines.append("Realm        \(realm)") }
        lines.append("Evidence     \(classification.evidence)")
        if let protection { lines.append("Resource     \(protection)") }
        if dryRun.isUnopened {
            lines.append(
                "TLS          left unopened (tls.intercept): usher sees nothing of this; what follows is as if it did")
        }
        if let route { lines.append("Route        by way of \(route)") }
        if !rules.isEmpty {
            lines.append("")
            lines.append("Interceptors")
            for rule in rules {
                lines.append("  \(rule.matched ? "yes" : " no")  \(rule.name): \(rule.because)")
            }
        }
        lines.append("")
        if let head = forwarded?.head {
            lines.append("Forwarded")
            lines.append("  \(head.methodText) \(head.url)")
            for (name, value) in head.fields.lines { lines.append("  \(name): \(value)") }
        } else {
            lines.append("Not forwarded: \(end)")
        }
        return redaction.text(lines.joined(separator: "\n") + "\n")
    }
}
