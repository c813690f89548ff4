public import Formats

/// Formats journeys as rows.
public struct JourneyList {
    private let style: TextStyle
    private let width: Int?

    /// - Parameter width: the width of a line in characters; nil for no limit.
    public init(_ style: TextStyle, width: Int?) {
        self.style = style
        self.width = width
    }

    private static let headings = ["JOURNEY", "TIME", "TREE", "WHO", "STEPS", "MS", "TOKENS", "ORIGINS", "OUTCOME"]
    private static let mostTree = 28
    private static let mostWho = 24
    private static let leastOutcome = 12

    /// - Parameter journeys: list entries of the daemon.
    public func text(_ journeys: [JSONValue]) -> String {
        let rows = journeys.map { row(FlowRecord($0)) }
        let taken = Self.headings.indices.dropLast().reduce(0) { taken, column in
            taken + 2 + rows.reduce(Self.headings[column].count) { max($0, $1[column].count) }
        }
        let room = width.map { max(Self.leastOutcome, $0 - taken) }
        let cells = zip(rows, journeys).map { row, journey in
            let outcome = row.last ?? ""
            let cut = room.map { TerminalText.shown(outcome, most: $0) } ?? outcome
            return row.dropLast() + [coloured(cut, journey)]
        }
        return ColumnText(Self.headings, cells.map(Array.init)).text(style)
    }

    private func row(_ journey: FlowRecord) -> [String] {
        let number = { (name: String) in "\(journey.number(name))" }
        return [
            journey.id, String(FlowList.clock(journey.began).prefix(8)),
            TerminalText.shown(Self.place(journey.value), most: Self.mostTree),
            TerminalText.shown(Self.who(journey.value), most: Self.mostWho), number("steps"),
            FlowRecord.duration(journey.number("duration_ms")), number("tokens"), number("origins"),
            TerminalText.plain(Self.outcome(journey.value)),
        ]
    }

    /// As in `/alpha Login`, with the type if it is no tree.
    static func place(_ journey: JSONValue) -> String {
        let record = FlowRecord(journey)
        let type = record.text("type")
        // for an advice, `tree` is its document
        let tree = type.isEmpty || type == "service" ? record.text("tree") : type
        let words = [record.text("realm"), tree].filter { !$0.isEmpty }.joined(separator: " ")
        return words.isEmpty ? "-" : words
    }

    /// The user, else the client's address.
    static func who(_ journey: JSONValue) -> String {
        let record = FlowRecord(journey)
        let name = [record.text("login"), record.text("user"), record.text("client")].first { !$0.isEmpty } ?? "-"
        return record.text("by") == "usher" ? "\(name) (usher)" : name
    }

    static func outcome(_ journey: JSONValue) -> String {
        let record = FlowRecord(journey)
        var words = record.text("outcome")
        if !record.text("reason").isEmpty { words += ": \(record.text("reason"))" }
        if !record.text("ended_by").isEmpty { words += ", signed out" }
        return journey["complete"]?.isTrue == false ? "\(words), beginning removed" : words
    }

    private func coloured(_ text: String, _ journey: JSONValue) -> String {
        Self.coloured(text, journey["outcome"]?.text ?? "", style)
    }

    static func coloured(_ text: String, _ outcome: String, _ style: TextStyle) -> String {
        switch outcome {
        case "succeeded": style.good(text)
        case "failed": style.bad(text)
        case "abandoned", "suspended": style.warning(text)
        default: text
        }
    }
}
