import HTTPCodec
import Interception
import Observation
import ProxyCore

extension Explanation {
    /// The explanation for a person.
    public func text(_ style: TextStyle = .plain) -> String {
        var lines = [redaction.text("\(given.head.methodText) \(given.head.url)"), ""]
        lines += facts.map(redaction.text)
        let later = dryRun.phases.filter { $0.call == nil && $0.judgement.phase != .request }
        let told = Set(later.flatMap(\.judgement.verdicts).map(\.name))
        if dryRun.isPlanned {
            for run in dryRun.phases {
                // interceptors of a later phase are reported there, or once
                let isFirst = run.call == nil && run.attempt == 1
                let verdicts = run.judgement.verdicts.filter { $0.takesPart || isFirst && !told.contains($0.name) }
                lines += block(title(run), verdicts, run, style)
            }
        } else {
            lines += block("Interceptors", rules, nil, style)
        }
        lines += [""] + message(style)
        return lines.joined(separator: "\n") + "\n"
    }

    private var facts: [String] {
        var lines = ["Action       \(classification.action?.rawValue ?? "none")"]
        if let payload = classification.payload {
            let isKnown = classification.payloadSource != .unknown
            let tree = payload.tree ?? (isKnown ? "the default" : "not known")
            lines.append("Tree         \(tree)\(isKnown ? " (\(payload.type ?? "type unknown"))" : "")")
        }
        if let realm = classification.realm { lines.append("Realm        \(realm)") }
        lines.append("Evidence     \(classification.evidence)")
        if let protocolWords { lines.append("Protocol     \(protocolWords)") }
        if let environment {
            let rate = environment.rate.map { "; at most \($0.words)" } ?? ""
            lines.append(
                "Environment  \(environment.label): \(environment.allows.names.joined(separator: ", "))\(rate)")
        }
        if let protection { lines.append("Resource     \(protection)") }
        for case .token(_, let words) in dryRun.events { lines.append("Token        \(words)") }
        if let session = dryRun.session { lines.append("Session      \(session.words)") }
        if let decision { lines.append("Decision     \(decision)") }
        if let key = dryRun.closed {
            lines.append(
                "TLS          not opened (\(key.rawValue)): usher cannot see this request; the rest assumes that it can"
            )
        }
        if let route { lines.append("Route        through \(route)") }
        if let addressWords { lines.append("Address      not resolved here; \(addressWords)") }
        return lines
    }

    // MARK: interceptors

    private func title(_ run: DryRun.PhaseRun) -> String {
        let again = run.attempt > 1 && run.call == nil ? ", attempt \(run.attempt)" : ""
        let call = run.call.map { "call \($0) to AM" }
        switch run.judgement.phase {
        case .request: return "Interceptors" + (call.map { " of \($0)" } ?? "") + again
        case .beforeStepUp: return "Interceptors of the response, before the step-up" + again
        case .response: return "Interceptors of " + (call.map { "AM's response to \($0)" } ?? "the response") + again
        case .error: return "Interceptors without a response" + (call.map { " to \($0)" } ?? "") + again
        }
    }

    private func block(
        _ title: String, _ verdicts: [RuleVerdict], _ run: DryRun.PhaseRun?, _ style: TextStyle
    ) -> [String] {
        guard !verdicts.isEmpty else { return [] }
        var lines = ["", style.heading(title)]
        for verdict in Self.sorted(verdicts) {
            let words = redaction.text("\(verdict.name): \(verdict.because)\(Self.nearness(verdict))")
            lines.append(verdict.matched ? "  \(style.good("yes"))  \(words)" : "  \(style.faint(" no  \(words)"))")
            guard verdict.matched, let run else { continue }
            lines += run.deeds(of: verdict.name).map { redaction.text("         \($0)") }
        }
        return lines
    }

    /// Applied interceptors in file order, then the others, nearest match first.
    static func sorted(_ verdicts: [RuleVerdict]) -> [RuleVerdict] {
        func rank(_ verdict: RuleVerdict, _ place: Int) -> (Int, Int, Int, Int) {
            (verdict.takesPart ? 0 : 1, verdict.misses.count, -verdict.held, place)
        }
        let missed = verdicts.enumerated().filter { !$0.element.matched }.sorted {
            rank($0.element, $0.offset) < rank($1.element, $1.offset)
        }
        return verdicts.filter(\.matched) + missed.map(\.element)
    }

    private static func nearness(_ verdict: RuleVerdict) -> String {
        guard !verdict.matched else { return "" }
        switch verdict.misses.count {
        case 0: return ""
        case 1: return verdict.held > 0 ? " (everything else matches)" : ""
        case let count:
            let others = verdict.misses.filter { $0 != verdict.because }
            return others.count == count - 1 ? "; \(others.joined(separator: "; "))" : ""
        }
    }

    // MARK: messages

    private func message(_ style: TextStyle) -> [String] {
        var lines: [String] = []
        if let forwarded {
            lines.append(style.heading(addressWords == nil ? "Forwarded" : "Forwarded if the address is permitted"))
            let before = ShownMessage(given.head, given.body, redaction)
            lines += before.diff(ShownMessage(forwarded.head, forwarded.body, redaction), style)
            lines += laterMessages(style)
        } else {
            lines.append("\(style.heading("Not forwarded")): \(redaction.text(end))")
        }
        return lines + answerLines(style)
    }

    /// The messages sent after the first one.
    private func laterMessages(_ style: TextStyle) -> [String] {
        guard let first = dryRun.sent.firstIndex(where: { !$0.isCall }) else { return [] }
        var lines: [String] = []
        for request in dryRun.sent[(first + 1)...] {
            lines += ["", style.heading(request.isCall ? "Call to AM" : "Sent again")]
            lines += ShownMessage(request.head, request.body, redaction).lines
        }
        return lines
    }

    private func answerLines(_ style: TextStyle) -> [String] {
        guard answer != nil || forwarded == nil else { return [] }
        var lines: [String] = []
        let notes = dryRun.events.filter(Self.isRemark).map { "  \(redaction.text($0.sentence))" }
        if !notes.isEmpty, answer != nil { lines += ["", style.heading("Events")] + notes }
        guard let received = dryRun.received else {
            if let answered, answered.status == nil {
                return forwarded == nil ? lines : lines + ["", "\(style.heading("Received")): \(redaction.text(end))"]
            }
            guard answer != nil else { return lines }
            return lines + ["", "\(style.heading("Received")): nothing until the last of these has a response"]
        }
        let shown = ShownMessage(received.head, received.body, redaction)
        guard let answer, answered == nil else {
            return forwarded == nil && answer == nil
                ? lines + ["", style.heading("Received")] + shown.lines
                : lines + ["", "\(style.heading("Received")): \(redaction.text(end))"] + shown.lines
        }
        lines += ["", style.heading(received.isWhole ? "Received" : "Received, cut short")]
        return lines + ShownMessage(answer.head, answer.body, redaction).diff(shown, style)
    }

    /// True for events that the text reports nowhere else.
    private static func isRemark(_ event: LogEvent) -> Bool {
        switch event {
        case .judged, .edited, .warned, .logged, .delayed, .throttled, .endDelayed, .recognised, .routed, .responded,
            .failed,
            .token:
            false
        default: true
        }
    }
}
