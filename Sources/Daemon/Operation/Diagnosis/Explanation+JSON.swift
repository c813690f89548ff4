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
        [
            "action": .optional(classification.action?.rawValue),
            "payload": classification.payload.map {
                ["tree": .optional($0.tree), "type": .optional($0.type)]
            } ?? .null,
            "realm": .optional(classification.realm), "evidence": .string(classification.evidence),
            "protocol": .string(spoken), "resource": .optional(dryRun.resource),
            "asks_person": .bool(dryRun.asksPerson), "session": .optional(dryRun.session?.origin.rawValue),
            "unopened": .optional(dryRun.closed?.rawValue), "route": .optional(route),
            "address": .optional(addressWords), "environment": .optional(environment?.label),
            "interceptors": .array(rules.map(interceptor)),
            "request": Self.shape(given.head, given.body),
            "forwarded": forwarded.map { Self.shape($0.head, $0.body) } ?? .null,
            "sent": .array(dryRun.sent.map(Self.sent)),
            "response": answer.map { Self.shape($0.head, $0.body) } ?? .null,
            "answered": answered.map(Self.ownAnswer) ?? .null,
            "received": dryRun.received.map { Self.shape($0.head, $0.body) } ?? .null, "events": .array(events),
        ]
    }

    private static func ownAnswer(_ answer: OwnAnswer) -> JSONValue {
        [
            "status": .optional(answer.status),
            "by": .string(answer.interceptor == nil ? "usher" : "interceptor"),
            "interceptor": .optional(answer.interceptor), "reason": .optional(answer.reason),
        ]
    }

    private func interceptor(_ rule: RuleVerdict) -> JSONValue {
        [
            "name": .string(rule.name), "matched": .bool(rule.matched), "because": .string(rule.because),
            "misses": .strings(rule.misses),
            "phases": .array(dryRun.phases.compactMap { Self.phase($0, rule.name) }),
        ]
    }

    private static func phase(_ run: DryRun.PhaseRun, _ name: String) -> JSONValue? {
        guard let verdict = run.judgement.verdicts.first(where: { $0.name == name && $0.takesPart }) else { return nil }
        return [
            "phase": .string(run.judgement.phase.rawValue), "attempt": .integer(run.attempt),
            "call": .optional(run.call), "matched": .bool(verdict.matched),
            "because": .string(verdict.because), "misses": .strings(verdict.misses),
            "did": .strings(run.deeds(of: name)),
        ]
    }

    private static func sent(_ request: DryRequest) -> JSONValue {
        var sent = shape(request.head, request.body)
        sent["call"] = .bool(request.isCall)
        return sent
    }

    private static func shape(_ head: RequestHead, _ body: [UInt8]) -> JSONValue {
        shape(["method": .string(head.methodText), "url": .string(head.url)], head.fields, body)
    }

    private static func shape(_ head: ResponseHead, _ body: [UInt8]) -> JSONValue {
        shape(["status": .integer(head.status), "reason": .string(head.reason)], head.fields, body)
    }

    private static func shape(_ start: JSONValue, _ fields: FieldTable, _ body: [UInt8]) -> JSONValue {
        var shape = start
        shape["headers"] = .array(fields.lines.map { .strings([$0.name, $0.value]) })
        shape["body"] = .string(String(decoding: body, as: UTF8.self))
        return shape
    }

    private var events: [JSONValue] {
        dryRun.events.compactMap { event in
            if case .judged = event { return nil }
            return ["kind": .string(event.kind.rawValue), "text": .string(event.sentence)]
        }
    }
}

extension DryRun.PhaseRun {
    /// An interceptor's effects, without its name.
    func deeds(of name: String) -> [String] {
        notes.filter { $0.interceptor == name }.map { String($0.sentence.dropFirst(name.count + 2)) }
    }
}
