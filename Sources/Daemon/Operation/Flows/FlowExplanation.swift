public import Formats
import HTTPCodec
import Interception

/// A recorded flow in the form of `Explanation`. It shows the stored verdicts and computes none.
public struct FlowExplanation {
    /// An interceptor's recorded effects.
    private struct Verdict {
        let name: String
        var runs: [(phase: String?, attempt: Int, did: [String])] = []
    }

    private let whole: JSONValue
    private let flow: FlowRecord
    private let request: StoredMessage?
    private let sent: StoredMessage?
    private let answer: StoredMessage?
    private let response: StoredMessage?
    /// In the order in which the interceptors ran.
    private var verdicts: [Verdict] = []
    /// Other events.
    private var remarks: [String] = []
    private var evidence: String?

    /// - Parameter flow: the complete flow from the daemon.
    public init(_ flow: JSONValue) {
        whole = flow
        self.flow = FlowRecord(flow["flow"] ?? .null)
        request = StoredMessage(flow["request"])
        sent = StoredMessage(flow["sent"])
        answer = StoredMessage(flow["answer"])
        response = StoredMessage(flow["response"])
        read(flow["events"]?.items ?? [])
    }

    private mutating func read(_ events: [JSONValue]) {
        let action = flow.text("action")
        var attempt = 1
        for event in events {
            let text = event["text"]?.text ?? ""
            if let name = event["interceptor"]?.text {
                let words = text.hasPrefix("\(name): ") ? String(text.dropFirst(name.count + 2)) : text
                add(words, of: name, event["phase"]?.text, attempt)
                if event["did"]?.text == Deed.retried.rawValue { attempt += 1 }
            } else if evidence == nil, !action.isEmpty, text.hasPrefix("\(action): ") {
                evidence = String(text.dropFirst(action.count + 2))
            } else {
                remarks.append(text)
                if event["event"]?.text == "replay" { attempt += 1 }
            }
        }
    }

    private mutating func add(_ words: String, of name: String, _ phase: String?, _ attempt: Int) {
        let place = verdicts.firstIndex { $0.name == name } ?? verdicts.endIndex
        if place == verdicts.endIndex { verdicts.append(Verdict(name: name)) }
        // an event without a phase belongs to the phase before it
        let last = verdicts[place].runs.indices.last
        if let last, verdicts[place].runs[last].attempt == attempt,
            phase == nil || phase == verdicts[place].runs[last].phase
        {
            verdicts[place].runs[last].did.append(words)
        } else {
            verdicts[place].runs.append((phase, attempt, [words]))
        }
    }

    private static let because = "it had an effect on the flow"

    private var noEvidence: String {
        flow.text("action").isEmpty ? "No Action was recognised." : "None was recorded."
    }

    private var isLocal: Bool { flow.marks.contains("local") }

    /// The reason why the request was not sent; nil if it was.
    private var end: String? {
        guard flow.number("attempts") == 0 || isLocal && sent == nil else { return nil }
        let status = flow.status.map { "with status \($0)" } ?? "without a response"
        return "response of usher or an interceptor \(status)" + (flow.error.map { ": \($0)" } ?? "")
    }

    // MARK: text

    public func text(_ style: TextStyle = .plain) -> String {
        var lines = [TerminalText.plain("\(flow.text("method")) \(flow.text("url"))"), ""]
        lines += facts.map(TerminalText.plain)
        if !verdicts.isEmpty { lines += ["", style.heading("Interceptors with an effect")] }
        for verdict in verdicts {
            lines.append("  \(style.good("yes"))  \(TerminalText.plain("\(verdict.name): \(Self.because)"))")
            for run in verdict.runs {
                let place = [run.phase.map { "\($0) phase" }, run.attempt > 1 ? "attempt \(run.attempt)" : nil]
                let words = place.compactMap { $0 }.joined(separator: ", ")
                lines += run.did.map { "         " + TerminalText.plain(words.isEmpty ? $0 : "\($0) (\(words))") }
            }
        }
        lines.append("")
        if let end {
            lines.append("\(style.heading("Not forwarded")): \(TerminalText.plain(end))")
        } else {
            lines.append(style.heading("Forwarded"))
            lines += Self.change(request, sent, style)
        }
        if !remarks.isEmpty {
            lines += ["", style.heading("Events")] + remarks.map { "  \(TerminalText.plain($0))" }
        }
        if let response {
            lines += ["", style.heading("Received")] + Self.change(answer ?? response, response, style)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func change(
        _ before: StoredMessage?, _ after: StoredMessage?, _ style: TextStyle
    ) -> [String] {
        guard let before else { return [] }
        return LineDiff(before.lines, (after ?? before).lines).lines.map(style.line)
    }

    private var facts: [String] {
        let action = flow.text("action")
        let tree = flow.text("tree")
        let type = flow.text("type")
        var lines = [
            "Flow         \(flow.id), \(flow.text("began"))", "Action       \(action.isEmpty ? "none" : action)",
        ]
        if !tree.isEmpty || !type.isEmpty {
            lines.append(
                "Tree         \(tree.isEmpty ? "the default" : tree) (\(type.isEmpty ? "type unknown" : type))")
        }
        if !flow.text("realm").isEmpty { lines.append("Realm        \(flow.text("realm"))") }
        return lines + ["Evidence     \(evidence ?? noEvidence)"]
    }

    // MARK: JSON

    /// The format of `usher explain --json` with the flow's id. Values that were not recorded are null.
    public var json: JSONValue {
        let tree = flow.value["tree"] ?? .null
        let type = flow.value["type"] ?? .null
        return [
            "flow": .string(flow.id), "action": flow.value["action"] ?? .null,
            "payload": tree.text == nil && type.text == nil
                ? .null : ["tree": tree, "type": type],
            "realm": flow.value["realm"] ?? .null, "evidence": .string(evidence ?? noEvidence),
            "protocol": request.map { .string($0.version) } ?? .null, "resource": .null, "asks_person": .null,
            "session": .null, "unopened": .null, "route": .null, "interceptors": .array(verdicts.map(Self.interceptor)),
            "request": Self.shape(request), "forwarded": end == nil ? Self.shape(sent ?? request) : .null,
            "sent": .null, "response": Self.shape(isLocal ? nil : answer ?? response),
            "answered": end == nil ? .null : ["status": flow.value["status"] ?? .null],
            "received": Self.shape(response), "events": .array(events),
        ]
    }

    private static func interceptor(_ verdict: Verdict) -> JSONValue {
        [
            "name": .string(verdict.name), "matched": true, "because": .string(because), "misses": [],
            "phases": .array(
                verdict.runs.map { run in
                    [
                        "phase": .optional(run.phase), "attempt": .integer(run.attempt),
                        "call": .null, "matched": true, "because": .string(because), "misses": [],
                        "did": .strings(run.did),
                    ]
                }),
        ]
    }

    private static func shape(_ message: StoredMessage?) -> JSONValue {
        guard let message else { return .null }
        var shape: JSONValue =
            message.status == 0
            ? ["method": .string(message.method), "url": .string(message.url)]
            : ["status": .integer(message.status), "reason": .string(ReasonPhrase.of(message.status))]
        shape["headers"] = .array(message.fields.map { .strings([$0.name, $0.value]) })
        shape["body"] = .string(String(decoding: message.body, as: UTF8.self))
        return shape
    }

    private var events: [JSONValue] {
        (whole["events"]?.items ?? []).map { event in
            ["kind": event["event"] ?? .null, "text": event["text"] ?? .null]
        }
    }
}
