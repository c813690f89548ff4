import Glibc

/// Highlights text: with colours on a terminal, not at all elsewhere.
public struct TextStyle: Sendable {
    public static let plain = TextStyle(isColoured: false)

    private let isColoured: Bool

    private init(isColoured: Bool) { self.isColoured = isColoured }

    /// The style for standard output.
    /// - Parameter environment: a non-empty `NO_COLOR` or a dumb terminal turns colours off.
    public init(environment: [String: String]) {
        let isRefused = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
        isColoured = Output.isTerminal && !isRefused
    }

    func heading(_ text: String) -> String { shown(text, "1") }
    func good(_ text: String) -> String { shown(text, "32") }
    func bad(_ text: String) -> String { shown(text, "31") }
    func warning(_ text: String) -> String { shown(text, "33") }
    func faint(_ text: String) -> String { shown(text, "2") }

    func line(_ line: LineDiff.Line) -> String {
        let text = "\(line.mark.rawValue) \(line.text)"
        return switch line.mark {
        case .same: text
        case .removed: bad(text)
        case .added: good(text)
        }
    }

    private func shown(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
