public import Formats
import HTTPCodec

/// One flow for a person: the request, the events and the response.
public struct FlowStory {
    private let whole: JSONValue
    private let flow: FlowRecord
    private let style: TextStyle

    /// - Parameter flow: the complete flow from the daemon.
    public init(_ flow: JSONValue, _ style: TextStyle) {
        whole = flow
        self.flow = FlowRecord(flow["flow"] ?? .null)
        self.style = style
    }

    public var text: String {
        var lines = [style.heading(title), style.faint(circumstances)]
        let request = StoredMessage(whole["request"])
        let response = StoredMessage(whole["response"])
        section("Request", request?.lines ?? [], &lines)
        section("Events", events(of: whole, from: flow.began), &lines)
        section("The request went out changed", diff(request, StoredMessage(whole["sent"])), &lines)
        section("The response was changed", diff(StoredMessage(whole["answer"]), response), &lines)
        section(response == nil ? "No response" : "Response", response?.lines ?? [], &lines)
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ title: String, _ content: [String], _ lines: inout [String]) {
        guard !content.isEmpty || title == "No response" else { return }
        lines += ["", style.heading(title)] + content.map { $0.isEmpty ? "" : "  \($0)" }
    }

    // MARK: title

    private var title: String {
        let status = flow.status.map { "\($0) \(ReasonPhrase.of($0))" } ?? "no response"
        return TerminalText.plain("\(flow.text("method")) \(flow.text("url"))")
            + " → \(status) in \(flow.number("duration_ms")) ms"
    }

    private var circumstances: String {
        var words = ["flow \(flow.id)", flow.text("began"), "from \(flow.text("client"))"]
        if !flow.text("user").isEmpty { words[2] += " (\(flow.text("user")))" }
        words += ["action", "realm", "tree", "type"].compactMap { name in
            let text = flow.text(name)
            return text.isEmpty ? nil : name == "action" ? text : "\(name) \(text)"
        }
        if let error = flow.error { words.append("error \(error)") }
        words += flow.marks.map { $0.replacing("_", with: " ") }
        if flow.number("attempts") > 1 { words.append("sent \(flow.number("attempts")) times") }
        let time = phases
        return TerminalText.plain(words.joined(separator: ", ")) + (time.isEmpty ? "" : "\n\(time)")
    }

    /// The distribution of time.
    private var phases: String {
        let timing = whole["timing_ms"]
        let names = ["waiting", "resolving", "connecting", "securing", "answering", "receiving"]
        return names.compactMap { name in timing?[name]?.integer.map { "\(name) \($0) ms" } }.joined(separator: ", ")
    }

    // MARK: events

    /// Events and calls in chronological order.
    private func events(of flow: JSONValue, from start: Int) -> [String] {
        var told: [(at: Int, lines: [String])] = (flow["events"]?.items ?? []).map { event in
            let at = event["at_ms"]?.integer ?? 0
            let words = TerminalText.lines(event["text"]?.text ?? "").replacing("\n", with: " ")
            return (at, [Self.line(at, event["event"]?.text ?? "", words)])
        }
        for call in flow["calls"]?.items ?? [] {
            let record = FlowRecord(call["flow"] ?? .null)
            let at = max(0, record.began - start)
            let status = record.status.map(String.init) ?? record.error ?? "no response"
            let words = TerminalText.plain(
                "\(record.text("method")) \(record.text("url")) → \(status) in \(record.number("duration_ms")) ms (flow \(record.id))"
            )
            let kind = record.marks.contains("attempt") ? "attempt" : "call"
            told.append((at, [Self.line(at, kind, words)] + events(of: call, from: start).map { "    \($0)" }))
        }
        // simultaneous events keep their order
        return told.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.flatMap(
            \.element.lines)
    }

    private static func line(_ at: Int, _ kind: String, _ words: String) -> String {
        "\(at)".aligned(to: 5) + " ms  " + TerminalText.plain(kind).padded(to: 13) + words
    }

    // MARK: comparison

    private func diff(_ before: StoredMessage?, _ after: StoredMessage?) -> [String] {
        guard let before, let after else { return [] }
        let diff = LineDiff(before.lines, after.lines)
        return diff.isSame ? [] : diff.folded(around: 3).lines.map(style.line)
    }
}
