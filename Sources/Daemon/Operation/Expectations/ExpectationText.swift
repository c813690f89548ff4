public import Expectations
import Formats
import Journal

/// A report on expectations, for people and for JUnit.
public struct ExpectationText {
    private let report: ExpectationReport

    public init(_ report: ExpectationReport) { self.report = report }

    /// As in `1 expectation unmet`; nil if all are met.
    public static func words(unmet: Int) -> String? {
        unmet == 0 ? nil : "\(unmet) expectation\(unmet == 1 ? "" : "s") unmet"
    }

    // MARK: text

    public func text(_ style: TextStyle) -> String {
        let flows = "\(report.seen) flow\(report.seen == 1 ? "" : "s")"
        let met = report.entries.count - report.unmet
        return Self.rows(report.entries, style) + "\(flows), \(met) met, \(report.unmet) unmet\n"
    }

    /// Only what is not met.
    public var unmet: String { Self.rows(report.entries.filter { $0.verdict != .met }, .plain) }

    private static func rows(_ entries: [ExpectationReport.Entry], _ style: TextStyle) -> String {
        let width = entries.map(\.expectation.name.count).max() ?? 0
        return entries.map { entry in
            let name = TerminalText.plain(entry.expectation.name)
            return "\(verdict(entry, style))  \(name.padded(to: width))  \(count(entry))\n"
                + lines(entry).map { "         \(TerminalText.plain($0))\n" }.joined()
        }.joined()
    }

    private static func verdict(_ entry: ExpectationReport.Entry, _ style: TextStyle) -> String {
        switch entry.verdict {
        case .met: style.good("met    ")
        case .unmet: style.bad("UNMET  ")
        case .pending: style.warning("PENDING")
        }
    }

    private static func count(_ entry: ExpectationReport.Entry) -> String {
        if case .rule = entry.expectation.test { return "\(entry.counted) judged" }
        return "\(entry.counted), wanted \(entry.wanted)"
    }

    /// What is wrong, with the flows and a command to repeat each.
    private static func lines(_ entry: ExpectationReport.Entry) -> [String] {
        guard entry.verdict != .met else { return [] }
        let expectation = entry.expectation
        var lines = [expectation.words + (expectation.place.isEmpty ? "" : " (\(expectation.place))")]
        if let rule = expectation.rule { lines.append("\(rule.pack): \(rule.source)") }
        for failure in entry.failures { lines += Self.lines(failure, "flow") }
        if let nearest = entry.nearest { lines += Self.lines(nearest, "nearest flow") }
        if entry.failed > entry.failures.count { lines.append("and \(entry.failed - entry.failures.count) more") }
        return lines
    }

    private static func lines(_ failure: ExpectationReport.Failure, _ word: String) -> [String] {
        guard let flow = failure.flow else { return ["\(word) \(failure.id): \(failure.because)"] }
        let status = flow[.status] == 0 ? "no response" : "\(flow[.status])"
        let lines = [
            "\(word) \(failure.id): \(flow.text(.method) ?? "") \(flow.url) \(status)", "  \(failure.because)",
        ]
        return lines + [FlowMessage(flow, .request).flatMap(CurlText.init).map { "  \($0.line)" }].compactMap { $0 }
    }

    // MARK: JUnit

    public var junit: String {
        JUnit(
            report.entries.map { entry in
                let lines = Self.lines(entry)
                let one = JUnit.Case(
                    name: entry.expectation.name,
                    failure: lines.isEmpty ? nil : (entry.because, lines.joined(separator: "\n")))
                return (entry.expectation.rule?.pack ?? "expectations", one)
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
