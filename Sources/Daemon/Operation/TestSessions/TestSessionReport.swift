public import Formats

/// Test sessions as the command line shows them.
public struct TestSessionReport {
    private let answer: JSONValue

    /// - Parameter answer: the daemon's answer.
    public init(_ answer: JSONValue) { self.answer = answer }

    /// A session that was just opened, with the lines to copy.
    public func opened(_ style: TextStyle) -> String {
        var lines = [heading(answer, style), "  proxy   \(text(answer["proxy"]))"]
        if let port = answer["port"]?.text { lines.append("  port    \(text(.string(port)))") }
        if let robot = answer["robot"]?.text { lines.append("  robot   \(text(.string(robot)))") }
        let header = answer["header"]
        lines.append("  header  \(text(header?["name"])): \(text(header?["value"]))")
        return lines.joined(separator: "\n") + "\n"
    }

    public func list(_ style: TextStyle) -> String {
        let sessions = answer["sessions"]?.items ?? []
        guard !sessions.isEmpty else { return "no test session is open\n" }
        let rows = sessions.map { session in
            [
                text(session["id"]), text(session["name"]), text(session["began"]), text(session["ends"]),
                "\(session["rules"]?.items?.count ?? 0)", text(session["port"]),
            ]
        }
        return ColumnText(["SESSION", "NAME", "BEGAN", "ENDS", "RULES", "PORT"], rows).text(style)
    }

    public func session(_ style: TextStyle) -> String {
        var lines = [heading(answer, style)]
        if let port = answer["port"]?.text { lines.append("  port    \(text(.string(port)))") }
        for warning in answer["warnings"]?.items ?? [] { lines.append("  \(StatusReport.line(warning))") }
        return lines.joined(separator: "\n") + "\n" + rules(style)
    }

    public func rules(_ style: TextStyle) -> String {
        let rules = answer["rules"]?.items ?? []
        guard !rules.isEmpty else { return "it has no rules of its own\n" }
        let rows = rules.map { rule in
            [text(rule["name"]), rule["rule"].map { $0 == .null ? "(overlay)" : TerminalText.shown($0.written) } ?? ""]
        }
        return ColumnText(["NAME", "RULE"], rows).text(style)
    }

    private func heading(_ session: JSONValue, _ style: TextStyle) -> String {
        let name = session["name"]?.text.map { " \(TerminalText.shown($0))" } ?? ""
        return style.heading("session \(text(session["id"]))\(name)") + ", until \(text(session["ends"]))"
    }

    private func text(_ value: JSONValue?) -> String { TerminalText.shown(value?.text ?? "") }
}
