public import Formats
import Glibc

/// Formats flows as rows. Each row is independent, so that later flows fit under the same headings.
public struct FlowList {
    private let style: TextStyle
    /// The width of a line in characters; nil for no limit.
    private let width: Int?

    private static let methodWidth = 7
    /// Narrower terminals get fewer columns.
    private static let roomy = 110
    private static let leastPlace = 16

    private var isRoomy: Bool { width.map { $0 >= Self.roomy } ?? true }
    private var timeWidth: Int { isRoomy ? 12 : 8 }
    /// The end of an id also identifies a flow.
    private var idWidth: Int { isRoomy ? 12 : 9 }
    private var actionWidth: Int { isRoomy ? 18 : 12 }
    private static let marksWidth = 5
    /// The width of all columns except the place, with the gaps.
    private var rest: Int {
        timeWidth + 2 + idWidth + 2 + 3 + 2 + Self.methodWidth + 2 + 2 + actionWidth + 2 + 6 + 2 + Self.marksWidth
            + (isRoomy ? 14 : 0)
    }

    public init(_ style: TextStyle, width: Int?) {
        self.style = style
        self.width = width
    }

    /// The width of the terminal on standard output.
    public static var terminalWidth: Int? {
        var size = winsize()
        guard Output.isTerminal, ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    public var heading: String {
        style.heading(
            line("TIME", "FLOW", "", "METHOD", "WHERE", "ACTION", "MS", "SENT", "GOT", "MARKS") { $0 }) + "\n"
    }

    /// - Parameter flow: a list entry of the daemon.
    public func row(_ flow: JSONValue) -> String {
        let flow = FlowRecord(flow)
        let status = flow.status.map(String.init) ?? "-"
        let row = line(
            Self.clock(flow.began), flow.id, status, flow.text("method"), flow.place, flow.text("action"),
            FlowRecord.duration(flow.number("duration_ms")), FlowRecord.size(flow.number("request_bytes")),
            FlowRecord.size(flow.number("response_bytes")), flow.letters
        ) { coloured($0, flow) }
        return row + "\n"
    }

    private func line(
        _ time: String, _ id: String, _ status: String, _ method: String, _ place: String, _ action: String,
        _ duration: String, _ sent: String, _ got: String, _ marks: String, status colour: (String) -> String
    ) -> String {
        var cells = [
            String(time.prefix(timeWidth)).padded(to: timeWidth), String(id.suffix(idWidth)).padded(to: idWidth),
            colour(status.padded(to: 3)),
            TerminalText.shown(method, most: Self.methodWidth).padded(to: Self.methodWidth),
        ]
        if let width {
            let room = max(Self.leastPlace, width - rest)
            cells.append(TerminalText.shown(place, most: room).padded(to: room))
        }
        cells += [
            TerminalText.shown(action, most: actionWidth).padded(to: actionWidth), duration.aligned(to: 6),
        ]
        if isRoomy { cells += [sent.aligned(to: 5), got.aligned(to: 5)] }
        guard width != nil else {
            // without a limit, the place is complete and last, and no cell is empty
            cells[4] = action.isEmpty ? "-".padded(to: actionWidth) : cells[4]
            cells += [(marks.isEmpty ? "-" : marks).padded(to: Self.marksWidth), TerminalText.plain(place)]
            return cells.joined(separator: "  ")
        }
        cells.append(marks)
        let line = cells.joined(separator: "  ")
        return marks.isEmpty ? String(line.dropLast(2)) : line
    }

    private func coloured(_ text: String, _ flow: FlowRecord) -> String {
        switch flow.status ?? 0 {
        case 100..<300: style.good(text)
        case 300..<400: text
        case 400..<500: style.warning(text)
        default: style.bad(text)
        }
    }

    /// The local time of day.
    static func clock(_ milliseconds: Int) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "-" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let fraction = "\(1000 + milliseconds % 1000)".dropFirst()
        return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(fraction)"
    }
}
