internal import Authorization
public import Formats
import HTTPCodec
import Interception
import Observation
import ProxyCore

extension Explanation {
    /// The documented output of `usher explain --json`.
    public var json: JSONValue { redaction.document(whole) }

    private var whole: JSONValue {
        .object([
            .init("action", Self.optional(classification.action?.rawValue)),
            .init(
                "payload",
                classification.payload.map {
                    .object([.init("tree", Self.optional($0.tree)), .init("type", Self.optional($0.type))])
                } ?? .null),
            .init("realm", Self.optional(classification.realm)),
            .init("evidence", .string(classification.evidence)),
            .init("protocol", .string(spoken)),
            .init("resource", Self.optional(dryRun.resource)),
            .init("asks_person", .bool(dryRun.asksPerson)),
            .init("session", Self.optional(dryRun.session?.origin.rawValue)),
            .init("unopened", Self.optional(dryRun.closed?.rawValue)),
            .init("route", Self.optional(route)),
            .init("address", Self.optional(addressWords)),
            .init("interceptors", .array(rules.map(interceptor))),
            .init("request", Self.shape(given.head, given.body)),
            .init("forwarded", forwarded.map { Self.shape($0.head, $0.body) } ?? .null),
            .init("sent", .array(dryRun.sent.map(Self.sent))),
            .init("response", answer.map { Self.shape($0.head, $0.body) } ?? .null),
            .init("answered", answered.map(Self.ownAnswer) ?? .null),
            .init("received", dryRun.received.map { Self.shape($0.head, $0.body) } ?? .null),
            .init("events", .array(events)),
        ])
    }

    private static func ownAnswer(_ answer: OwnAnswer) -> JSONValue {
        .object([
            .init("status", answer.status.map(JSONValue.integer) ?? .null),
            .init("by", .string(answer.interceptor == nil ? "usher" : "interceptor")),
            .init("interceptor", optional(answer.interceptor)), .init("reason", optional(answer.reason)),
        ])
    }

    private static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    private func interceptor(_ rule: RuleVerdict) -> JSONValue {
        .object([
            .init("name", .string(rule.name)), .init("matched", .bool(rule.matched)),
            .init("because", .string(rule.because)), .init("misses", .array(rule.misses.map(JSONValue.string))),
            .init("phases", .array(dryRun.phases.compactMap { Self.phase($0, rule.name) })),
        ])
    }

    private static func phase(_ run: DryRun.PhaseRun, _ name: String) -> JSONValue? {
        guard let verdict = run.judgement.verdicts.first(where: { $0.name == name && $0.takesPart }) else { return nil }
        return .object([
            .init("phase", .string(run.judgement.phase.rawValue)), .init("attempt", .integer(run.attempt)),
            .init("call", run.call.map(JSONValue.integer) ?? .null), .init("matched", .bool(verdict.matched)),
            .init("because", .string(verdict.because)),
            .init("misses", .array(verdict.misses.map(JSONValue.string))),
            .init("did", .array(run.deeds(of: name).map(JSONValue.string))),
        ])
    }

    private static func sent(_ request: DryRequest) -> JSONValue {
        guard case .object(let members) = shape(request.head, request.body) else { return .null }
        return .object(members + [.init("call", .bool(request.isCall))])
    }

    private static func shape(_ head: RequestHead, _ body: [UInt8]) -> JSONValue {
        .object([.init("method", .string(head.methodText)), .init("url", .string(head.url))] + rest(head.fields, body))
    }

    private static func shape(_ head: ResponseHead, _ body: [UInt8]) -> JSONValue {
        .object(
            [.init("status", .integer(head.status)), .init("reason", .string(head.reason))] + rest(head.fields, body))
    }

    private static func rest(_ fields: FieldTable, _ body: [UInt8]) -> [JSONValue.Member] {
        [
            .init("headers", .array(fields.lines.map { .array([.string($0.name), .string($0.value)]) })),
            .init("body", .string(String(decoding: body, as: UTF8.self))),
        ]
    }

    private var events: [JSONValue] {
        dryRun.events.compactMap { event in
            if case .judged = event { return nil }
            return .object([
                .init("kind", .string(event.kind.rawValue)), .init("text", .string(event.sentence)),
            ])
        }
    }
}

extension DryRun.PhaseRun {
    /// An interceptor's effects, without its name.
    func deeds(of name: String) -> [String] {
        notes.filter { $0.interceptor == name }.map { String($0.sentence.dropFirst(name.count + 2)) }
    }
}
