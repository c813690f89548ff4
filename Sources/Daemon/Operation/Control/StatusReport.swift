public import Formats

/// The daemon's status for a person.
public struct StatusReport {
    private let answer: JSONValue
    private let style: TextStyle

    /// - Parameter answer: the daemon's response.
    public init(_ answer: JSONValue, _ style: TextStyle) {
        self.answer = answer
        self.style = style
    }

    public var text: String {
        var lines: [(String, String)] = []
        let started = text(answer["started"])
        lines.append(
            (
                "usher",
                "\(text(answer["version"])), process \(number(answer["pid"])), \(text(answer["state"])) "
                    + "since \(started) (\(Self.duration(answer["uptime_s"]?.integer ?? 0)))"
            ))
        let configuration = answer["configuration"]
        lines.append(
            (
                "configuration",
                "generation \(number(configuration?["generation"])) of \(text(configuration?["file"])), "
                    + "by \(text(configuration?["by"])) at \(text(configuration?["loaded"]))"
            ))
        let restart = texts(configuration?["restart"])
        if !restart.isEmpty { lines.append(("", Supervisor.restartWords(restart))) }
        if let failure = configuration?["last_failure"], failure.members != nil {
            let fault = failure["faults"]?[0]
            lines.append(("", style.bad("not reloaded at \(text(failure["at"])): \(Self.line(fault))")))
        }
        lines.append(("listening", texts(answer["listening"]).joined(separator: ", ")))
        let (connections, exchanges) = (answer["connections"], answer["exchanges"])
        lines.append(("connections", "\(number(connections?["open"])) of \(number(connections?["most"]))"))
        lines.append(
            (
                "exchanges",
                "\(number(exchanges?["under_way"])) under way, \(number(exchanges?["served"])) served; "
                    + "\(number(exchanges?["per_second_10s"]))/s over 10 s, "
                    + "\(number(exchanges?["per_second_1m"]))/s over 1 min"
            ))
        for (index, one) in (answer["environments"]?.items ?? []).enumerated() {
            let rate = one["rate"]?.text.map { ", \(TerminalText.shown($0)) at most" } ?? ""
            let words = "\(text(one["label"])): \(texts(one["allow"]).joined(separator: ", "))\(rate)"
            lines.append((index == 0 ? "environments" : "", words))
        }
        lines.append(("memory", "\((answer["memory_bytes"]?.integer ?? 0) >> 20) MiB"))
        lines += journal
        let width = lines.map(\.0.count).max() ?? 0
        let head = lines.map { name, words in
            style.heading(name) + String(repeating: " ", count: width - name.count + 2) + words + "\n"
        }
        return head.joined() + "\n" + workers + scripts + faults
    }

    private var journal: [(String, String)] {
        guard let journal = answer["journal"], journal.members != nil else { return [] }
        func held(_ value: JSONValue) -> String {
            "\(number(value["flows"])) flows in \(((value["bytes"]?.integer ?? 0) + 1023) >> 10) KiB"
        }
        var words = held(journal)
        if let disk = journal["disk"], disk.members != nil {
            words += disk["open"]?.isTrue == true ? "; on disk \(held(disk))" : "; not stored on disk"
            if let lost = disk["dropped"]?.integer, lost > 0 { words += ", \(lost) lost" }
        }
        return [("journal", words)]
    }

    private var workers: String {
        let names = ["connections", "under_way", "served", "stalls"]
        let rows = (answer["workers"]?.items ?? []).map { worker in
            [number(worker["number"])] + names.map { number(worker[$0]) }
        }
        return ColumnText(["WORKER", "CONNECTIONS", "UNDER WAY", "SERVED", "STALLS"], rows).text(style)
    }

    private var scripts: String {
        let rows = (answer["scripts"]?.items ?? []).flatMap { script in
            let mark = script["retired"] == .bool(true) ? " (retired)" : ""
            return (script["workers"]?.items ?? []).map { worker in
                [
                    "\(text(script["name"])) \(number(worker["number"]))\(mark)", text(worker["state"]),
                    worker["pid"]?.integer.map(String.init) ?? "", number(worker["restarts"]), number(worker["open"]),
                    number(worker["answered"]), number(worker["failed"]), "\(number(worker["average_us"])) µs",
                    text(worker["last_fault"]),
                ]
            }
        }
        guard !rows.isEmpty else { return "" }
        let heads = ["SCRIPT", "STATE", "PID", "RESTARTS", "OPEN", "ANSWERED", "FAILED", "AVERAGE", "LAST FAULT"]
        return "\n" + ColumnText(heads, rows).text(style)
    }

    private var faults: String {
        let faults = answer["faults"]?.items ?? []
        if faults.isEmpty { return "" }
        return "\n" + style.heading("last errors") + "\n"
            + faults.map { "\(text($0["at"]))  \(text($0["text"]))\n" }.joined()
    }

    private func text(_ value: JSONValue?) -> String { TerminalText.shown(value?.text ?? "") }
    private func texts(_ value: JSONValue?) -> [String] { (value?.items ?? []).map { text($0) } }

    private func number(_ value: JSONValue?) -> String {
        if case .number(let text)? = value { TerminalText.shown(text) } else { "?" }
    }

    private static func duration(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3_600) h \(seconds / 60 % 60) min"
        default: "\(seconds / 86_400) d \(seconds / 3_600 % 24) h"
        }
    }

    /// A finding about a configuration, from the daemon's response.
    public static func line(_ remark: JSONValue?) -> String {
        let words = TerminalText.shown(remark?["message"]?.text ?? "")
        guard let file = remark?["file"]?.text, let line = remark?["line"]?.integer,
            let column = remark?["column"]?.integer
        else { return words }
        return "\(TerminalText.shown(file)):\(line):\(column): \(words)"
    }
}

/// The result of a reload for a person.
public enum ReloadWords {
    /// As in `generation 4: interceptors, tls.intercept changed`, with the keys that need a restart.
    public static func done(_ report: JSONValue) -> String {
        let changed = (report["changed"]?.items ?? []).map { TerminalText.shown($0.text ?? "") }
        let restart = (report["restart"]?.items ?? []).map { TerminalText.shown($0.text ?? "") }
        let words = changed.isEmpty ? "nothing changed" : "\(changed.joined(separator: ", ")) changed"
        let first = "generation \(report["generation"]?.integer ?? 0): \(words)\n"
        return restart.isEmpty ? first : first + Supervisor.restartWords(restart) + "\n"
    }
}
