public import Expectations
public import Formats

/// A report on expectations, for people and for JUnit.
public struct ExpectationText {
    private let report: JSONValue
    private let entries: [JSONValue]

    public init(_ report: ExpectationReport) { self.init(report.json) }

    /// - Parameter report: as the admin API gives it.
    public init(_ report: JSONValue) {
        self.report = report
        entries = report["expectations"]?.items ?? []
    }

    public var isMet: Bool { report["met"] == true }

    /// As in `1 expectation unmet`; nil if all are met.
    public static func words(unmet: Int) -> String? {
        unmet == 0 ? nil : "\(unmet) expectation\(unmet == 1 ? "" : "s") unmet"
    }

    // MARK: text

    public func text(_ style: TextStyle) -> String {
        let (seen, unmet) = (report["flows"]?.integer ?? 0, report["unmet"]?.integer ?? 0)
        return Self.rows(entries, style)
            + "\(seen) flow\(seen == 1 ? "" : "s"), \(entries.count - unmet) met, \(unmet) unmet\n"
    }

    /// Only what is not met.
    public var unmet: String { Self.rows(entries.filter { $0.text("verdict") != "met" }, .plain) }

    private static func rows(_ entries: [JSONValue], _ style: TextStyle) -> String {
        let width = entries.map { $0.text("name").count }.max() ?? 0
        return entries.map { entry in
            let name = TerminalText.plain(entry.text("name"))
            return "\(verdict(entry, style))  \(name.padded(to: width))  \(count(entry))\n"
                + lines(entry).map { "         \(TerminalText.plain($0))\n" }.joined()
        }.joined()
    }

    private static func verdict(_ entry: JSONValue, _ style: TextStyle) -> String {
        switch entry.text("verdict") {
        case "met": style.good("met    ")
        case "unmet": style.bad("UNMET  ")
        default: style.warning("PENDING")
        }
    }

    private static func count(_ entry: JSONValue) -> String {
        let counted = entry["counted"]?.integer ?? 0
        return entry["pack"]?.text == nil ? "\(counted), wanted \(entry.text("wanted"))" : "\(counted) judged"
    }

    /// What is wrong, with the flows and a command to repeat each.
    private static func lines(_ entry: JSONValue) -> [String] {
        guard entry.text("verdict") != "met" else { return [] }
        let failures = entry["failures"]?.items ?? []
        let failed = entry["failed"]?.integer ?? 0
        let place = entry["place"]?.text.map { " (\($0))" } ?? ""
        var lines = [entry.text("expected") + place]
        if let pack = entry["pack"]?.text { lines.append("\(pack): \(entry.text("source"))") }
        for failure in failures { lines += Self.lines(failure, "flow") }
        if let nearest = entry["nearest"], nearest != .null { lines += Self.lines(nearest, "nearest flow") }
        if failed > failures.count { lines.append("and \(failed - failures.count) more") }
        return lines
    }

    private static func lines(_ failure: JSONValue, _ word: String) -> [String] {
        let (id, because) = (failure.text("flow"), failure.text("because"))
        guard let request = failure["request"]?.text else { return ["\(word) \(id): \(because)"] }
        let status = failure["status"]?.integer.map(String.init) ?? "no response"
        return ["\(word) \(id): \(request) \(status)", "  \(because)"]
            + [failure["curl"]?.text.map { "  \($0)" }].compactMap { $0 }
    }

    // MARK: JUnit

    public var junit: String {
        JUnit(
            entries.map { entry in
                let lines = Self.lines(entry)
                let one = JUnit.Case(
                    name: entry.text("name"),
                    failure: lines.isEmpty ? nil : (entry.text("because"), lines.joined(separator: "\n")))
                return (entry["pack"]?.text ?? "expectations", one)
            }
        ).text
    }

    // MARK: packs

    /// The packs with their rules and sources.
    public static func packs(_ style: TextStyle) -> String {
        RulePack.all.map { pack in
            let rows = pack.rules.map { rule in
                "  \(rule.name.padded(to: 22))  \(rule.words)\n"
                    + style.faint("  \(" ".padded(to: 22))  \(rule.rule?.source ?? "")")
                    + "\n"
            }
            return "\(style.heading(pack.name))  \(pack.words)\n\(rows.joined())"
        }.joined(separator: "\n")
    }
}

extension JSONValue {
    /// A member's text; empty without one.
    fileprivate func text(_ name: String) -> String { self[name]?.text ?? "" }
}
