public import Formats

/// One journey for a person: a line for each call in chronological order, with AM's questions and the answers below it.
public struct JourneyText {
    private let whole: JSONValue
    private let row: FlowRecord
    private let style: TextStyle
    /// True to omit times, counts and ids, for a comparison.
    private let isSteady: Bool

    /// - Parameter journey: the complete journey from the daemon.
    public init(_ journey: JSONValue, _ style: TextStyle) {
        self.init(journey, style, isSteady: false)
    }

    init(_ journey: JSONValue, _ style: TextStyle, isSteady: Bool) {
        whole = journey
        row = FlowRecord(journey["journey"] ?? .null)
        self.style = style
        self.isSteady = isSteady
    }

    public var text: String { lines.joined(separator: "\n") + "\n" }

    var lines: [String] {
        var lines = [style.heading(title)]
        if !isSteady { lines.append(style.faint(circumstances)) }
        lines += notes + [""] + timeline
        section("Won", tokens, &lines)
        section("Reached", resources, &lines)
        return lines
    }

    private func section(_ title: String, _ content: [String], _ lines: inout [String]) {
        guard !content.isEmpty else { return }
        lines += ["", style.heading(title)] + content.map { "  \($0)" }
    }

    // MARK: title

    private var title: String {
        let place = TerminalText.plain(JourneyList.place(row.value))
        let outcome = TerminalText.plain(JourneyList.outcome(row.value))
        let shown = JourneyList.coloured(outcome, row.text("outcome"), style)
        let who = row.text("login").isEmpty ? "" : " as \(TerminalText.shown(row.text("login")))"
        return "\(place)\(who) → \(shown)" + (isSteady ? "" : " in \(row.number("duration_ms")) ms")
    }

    private var circumstances: String {
        var words = ["journey \(row.id)", row.text("began")]
        let user = row.text("user").isEmpty ? "" : " (\(row.text("user")))"
        if !row.text("client").isEmpty { words.append("from \(row.text("client"))\(user)") }
        let steps = row.number("steps")
        let count = steps == 1 ? "1 step" : "\(steps) steps"
        words.append("\(count): \(row.number("am_ms")) ms at AM, \(row.number("app_ms")) ms between them")
        return TerminalText.plain(words.joined(separator: ", "))
    }

    private var notes: [String] {
        var notes: [String] = []
        if row.value["complete"]?.isTrue == false {
            notes.append(
                whole["flows_lost"]?.isTrue == true
                    ? "its beginning was replaced by newer flows (journal.memory)"
                    : "its beginning did not pass through this proxy"
            )
        }
        if row.text("by") == "usher" { notes.append("run by Usher" + parent) }
        if let from = whole["from"], from.members != nil {
            let won = from["journey"]?.text.map {
                isSteady ? ", obtained by another journey" : ", obtained by journey \($0)"
            }
            notes.append("started with \(from["session"]?.text ?? "")\(won ?? "")")
        }
        let later = (whole["stepped_up_by"]?.items ?? []).compactMap(\.text)
        if !later.isEmpty, !isSteady {
            notes.append(
                "its session was stepped up by \(later.count == 1 ? "journey" : "journeys") \(later.joined(separator: ", "))"
            )
        }
        return notes.map(TerminalText.plain)
    }

    private var parent: String {
        guard let request = whole["for"], request.members != nil else {
            return isSteady ? "" : " for flow \(row.text("parent"))"
        }
        let words = "\(request["method"]?.text ?? "") \(request["url"]?.text ?? "") → \(Self.status(request))"
        return isSteady ? " for \(words)" : " for flow \(row.text("parent")): \(words)"
    }

    // MARK: events

    private var timeline: [String] {
        var told: [(at: Int, lines: [String])] = (whole["steps"]?.items ?? []).map { step in
            (step["at_ms"]?.integer ?? 0, lines(of: step))
        }
        for call in whole["calls"]?.items ?? [] { told.append((call["at_ms"]?.integer ?? 0, [line(of: call)])) }
        // simultaneous events keep their order
        var shown = told.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.flatMap(
            \.element.lines)
        for (name, words) in [("steps", "steps"), ("calls", "calls that followed")] {
            let count = whole["left_out"]?[name]?.integer ?? 0
            if count > 0, !isSteady { shown.append("\(count) more \(words) are not shown") }
        }
        return shown
    }

    private func lines(of step: JSONValue) -> [String] {
        var words = [Self.status(step)]
        if !isSteady { words[0] += time(of: step) }
        let pause = step["pause_ms"]?.integer ?? 0
        if pause > 0, !isSteady { words.append("\(pause) ms after the call before it") }
        if step["repeated"]?.isTrue == true { words.append("sent again") }
        let attempts = step["attempts"]?.integer ?? 0
        if attempts > 1 { words.append("after \(attempts) attempts") }
        switch step["ending"]?.text ?? "" {
        case "succeeds": words.append("signed in")
        case "suspends": words.append("continues with a mailed link")
        case "unread": words.append("too little of the response is stored (journal.bodies)")
        default: if let reason = step["reason"]?.text { words.append(reason) }
        }
        let names = ["stage", "header"].compactMap { step[$0]?.text }
        if !names.isEmpty { words.append(names.map { "“\($0)”" }.joined(separator: " ")) }
        return [line(step, words)] + (step["callbacks"]?.items ?? []).map(Self.callback).map(indented)
    }

    /// AM's share of the time and the total, if the network took some of it.
    private func time(of step: JSONValue) -> String {
        let (whole, server) = (step["duration_ms"]?.integer ?? 0, step["am_ms"]?.integer ?? 0)
        return " in \(whole) ms" + (server < whole ? " (AM \(server))" : "")
    }

    private func indented(_ text: String) -> String {
        String(repeating: " ", count: isSteady ? 2 : 12) + TerminalText.plain(text)
    }

    private static func callback(_ callback: JSONValue) -> String {
        let prompt = callback["prompt"]?.text ?? ""
        let answer = callback["answer"]?.text
        return (callback["type"]?.text ?? "") + (prompt.isEmpty ? "" : " “\(prompt)”")
            + (answer.map { ": \($0)" } ?? "")
    }

    private func line(of call: JSONValue) -> String {
        var words = [Self.status(call)]
        if !isSteady { words[0] += " in \(call["duration_ms"]?.integer ?? 0) ms" }
        if let error = call["error"]?.text { words.append(error) }
        if let with = call["with"]?.text { words.append("with \(with)") }
        let won = (call["won"]?.items ?? []).compactMap(\.text)
        if !won.isEmpty { words.append("obtained \(won.joined(separator: ", "))") }
        return line(call, words)
    }

    private static func status(_ flow: JSONValue) -> String {
        flow["status"]?.integer.map(String.init) ?? "no response"
    }

    private func line(_ call: JSONValue, _ words: [String]) -> String {
        let action = TerminalText.plain(call["action"]?.text ?? "")
        let told = TerminalText.plain(words.joined(separator: ", "))
        guard !isSteady else { return "\(action) → \(told)" }
        let place = "\(call["at_ms"]?.integer ?? 0)".aligned(to: 7) + " ms  "
        return place + action + " → " + told + style.faint(" (flow \(call["flow"]?.text ?? ""))")
    }

    // MARK: results

    private var tokens: [String] {
        let tokens = whole["tokens"]?.items ?? []
        let lines = tokens.map { token in
            let kind = token["kind"]?.text ?? ""
            return kind + String(repeating: " ", count: max(1, 15 - kind.count)) + (token["alias"]?.text ?? "")
        }
        return lines + surplus("tokens")
    }

    private func surplus(_ name: String) -> [String] {
        let count = whole["left_out"]?[name]?.integer ?? 0
        return count > 0 && !isSteady ? ["and \(count) more \(name)"] : []
    }

    private var resources: [String] {
        let lines = (whole["resources"]?.items ?? []).map { resource in
            let statuses = (resource["statuses"]?.items ?? []).map { entry in
                let count = entry["count"]?.integer ?? 0
                return Self.status(entry) + (isSteady || count == 1 ? "" : " × \(count)")
            }
            let place = TerminalText.plain(resource["origin"]?.text ?? "")
            guard !isSteady else { return "\(place): \(Set(statuses).sorted().joined(separator: ", "))" }
            let requests = Self.count(resource["requests"]?.integer ?? 0, "request")
            let paths = Self.count(resource["paths"]?.integer ?? 0, "path")
            return "\(place): \(requests) to \(paths): \(statuses.joined(separator: ", "))"
        }
        return lines + surplus("requests")
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }
}
