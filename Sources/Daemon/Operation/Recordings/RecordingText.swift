public import Formats
public import Recordings

/// A recording for people.
public struct RecordingText {
    private let recording: Recording

    public init(_ recording: Recording) { self.recording = recording }

    public func list(_ style: TextStyle) -> String {
        let rows = recording.exchanges.map { exchange in
            [
                exchange.name, "\(exchange.status)",
                TerminalText.shown("\(exchange.method) \(exchange.url.prefix { $0 != "?" })"),
                TerminalText.shown(exchange.tree ?? ""),
            ]
        }
        return "\(TerminalText.shown(recording.name)), recorded \(CalendarTime(recording.recorded).internet)\n"
            + ColumnText(["exchange", "status", "request", "tree"], rows, most: [2: 80]).text(style)
    }

    /// What became of each exchange in a play of the recording against itself.
    public static func results(_ results: [SelfPlay.Result], _ style: TextStyle) -> String {
        results.map { result in
            result.problem.map { "\(style.bad("FAIL"))  \(result.name): \(TerminalText.shown($0))\n" }
                ?? "\(style.good("pass"))  \(result.name)\n"
        }.joined()
    }

    public var json: JSONValue {
        [
            "name": .string(recording.name), "recorded": .string(CalendarTime(recording.recorded).internet),
            "servers": .strings(recording.origins), "volatile": .strings(recording.volatile.sorted()),
            "exchanges": .array(
                recording.exchanges.map { exchange in
                    [
                        "name": .string(exchange.name), "action": .optional(exchange.action),
                        "tree": .optional(exchange.tree), "method": .string(exchange.method),
                        "url": .string(exchange.url), "status": .integer(exchange.status),
                    ]
                }),
        ]
    }
}
