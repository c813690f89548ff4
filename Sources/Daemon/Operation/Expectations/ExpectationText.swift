import Expectations
public import Formats

/// A report on expectations in its JSON form, for people and for JUnit.
public struct ExpectationText {
    private let report: JSONValue
    private let entries: [Entry]

    public init(_ report: JSONValue) {
        self.report = report
        entries = (report["expectations"]?.items ?? []).map(Entry.init)
    }

    public var isMet: Bool { report["met"]?.isTrue == true }

    /// As in `1 expectation unmet`; nil if all are met.
    public static func words(unmet: Int) -> String? {
        unmet == 0 ? nil : "\(unmet) expectation\(unmet == 1 ? "" : "s") unmet"
    }

    private struct Entry {
        let value: JSONValue

        func text(_ name: String) -> String { value[name]?.text ?? "" }
        func number(_ name: String) -> Int { value[name]?.integer ?? 0 }

        var name: String { text("name") }
        var verdict: ExpectationReport.Verdict { .init(rawValue: text("verdict")) ?? .pending }

        var count: String {
            text("pack").isEmpty
                ? "\(number("counted")), wanted \(text("wanted"))"
                : number("counted") == 0 ? "nothing to judge" : "\(number("counted")) judged"
        }

        /// What is wrong, with the flows and a command to repeat each.
        var lines: [String] {
            guard verdict != .met else { return [] }
            var lines = ["expected: \(text("expected"))" + (text("place").isEmpty ? "" : " (\(text("place")))")]
            if !text("pack").isEmpty { lines.append("\(text("pack")): \(text("source"))") }
            let failures = value["failures"]?.items ?? []
            for failure in failures { lines += Self.lines(failure, "flow") }
            if let nearest = value["nearest"], nearest.members != nil { lines += Self.lines(nearest, "nearest flow") }
            let more = number("failed") - failures.count
            return more > 0 ? lines + ["and \(more) more"] : lines
        }

        private static func lines(_ failure: JSONValue, _ word: String) -> [String] {
            let request = failure["request"]?.text.map { request in
                " \(request) \(failure["status"]?.integer.map(String.init) ?? "without a response")"
            }
            let lines = [
                "\(word) \(failure["flow"]?.text ?? ""):\(request ?? "")", "  \(failure["because"]?.text ?? "")",
            ]
            return lines + [failure["curl"]?.text.map { "  \($0)" }].compactMap { $0 }
        }
    }

    // MARK: text

    public func text(_ style: TextStyle) -> String {
        let (flows, unmet) = (report["flows"]?.integer ?? 0, report["unmet"]?.integer ?? 0)
        return Self.rows(entries, style)
            + "\(flows) flow\(flows == 1 ? "" : "s"), \(entries.count - unmet) met, \(unmet) unmet\n"
    }

    /// Only what is not met.
    public var unmet: String { Self.rows(entries.filter { $0.verdict != .met }, .plain) }

    private static func rows(_ entries: [Entry], _ style: TextStyle) -> String {
        let width = entries.map(\.name.count).max() ?? 0
        return entries.map { entry in
            let name = TerminalText.plain(entry.name).padded(to: width)
            return "\(verdict(entry, style))  \(name)  \(TerminalText.plain(entry.count))\n"
                + entry.lines.map { "         \(TerminalText.plain($0))\n" }.joined()
        }.joined()
    }

    private static func verdict(_ entry: Entry, _ style: TextStyle) -> String {
        switch entry.verdict {
        case .met: style.good("met    ")
        case .unmet: style.bad("UNMET  ")
        case .pending: style.warning("PENDING")
        }
    }

    // MARK: JUnit

    public var junit: String {
        JUnit(
            entries.map { entry in
                let isMet = entry.verdict == .met
                let one = JUnit.Case(
                    name: entry.name,
                    failure: isMet
                        ? nil : ("\(entry.count): \(entry.text("because"))", entry.lines.joined(separator: "\n")))
                return (entry.text("pack").isEmpty ? "expectations" : entry.text("pack"), one)
            }
        ).text
    }

    // MARK: packs

    /// The packs with their rules and sources.
    public static func packs(_ style: TextStyle) -> String {
        let width = RulePack.all.flatMap(\.rules).map(\.name.count).max() ?? 0
        return RulePack.all.map { pack in
            let rows = pack.rules.map { rule in
                "  \(rule.name.padded(to: width))  \(rule.words)\n"
                    + style.faint("  \("".padded(to: width))  \(rule.rule?.source ?? "")") + "\n"
            }
            return "\(style.heading(pack.name))  \(pack.words)\n\(rows.joined())"
        }.joined(separator: "\n")
    }
}
