/// Collects the findings about a configuration. A class, because every part of the loader adds to the same list; it is not used
/// after the load.
public final class Findings {
    public enum Gravity: Sendable {
        case error, warning
        /// Information; the configuration is not at fault.
        case note
    }

    public struct Finding: Sendable {
        public var gravity: Gravity
        public var position: Position
        /// The problem, the expectation and the remedy, without the suggestion.
        public var message: String
        /// The known name that was likely meant.
        public var nearest: String?
    }

    /// As they were passed to the loader. Positions refer to them by index.
    public let files: [String]
    public private(set) var all: [Finding] = []
    public private(set) var hasErrors = false

    /// The positions of stand-ins for missing secrets. Findings there are suppressed.
    private var excused: Set<Position> = []

    public init(file: String) { files = [file] }

    public init(files: [String]) { self.files = files }

    public func file(_ position: Position) -> String {
        files.indices.contains(position.file) ? files[position.file] : ""
    }

    /// As in `usher.yaml:12:5`.
    public func place(_ position: Position) -> String {
        "\(file(position)):\(position.line):\(position.column)"
    }

    /// A reference to another position: `line 12`, or with the file if it is another one.
    public func place(_ other: Position, from position: Position) -> String {
        other.file == position.file ? "line \(other.line)" : place(other)
    }

    /// Adds the findings of one file that was read separately.
    public func take(_ others: Findings, file: Int) {
        for var finding in others.all {
            finding.position.file = file
            all.append(finding)
        }
        hasErrors = hasErrors || others.hasErrors
    }

    /// Suppresses errors and warnings at a position, because the value there is a stand-in.
    public func excuse(_ position: Position) { excused.insert(position) }

    /// Whether the value at this position is a stand-in, so that it must not cause findings elsewhere.
    public func isExcused(_ position: Position) -> Bool { excused.contains(position) }

    /// Whether any entry of a list is a stand-in.
    public func isExcused(anyOf items: [Decoded]) -> Bool { items.contains { isExcused($0.position) } }

    public func error(_ position: Position, _ message: String, nearest: String? = nil) {
        guard !excused.contains(position) else { return }
        hasErrors = true
        all.append(Finding(gravity: .error, position: position, message: message, nearest: nearest))
    }

    public func warning(_ position: Position, _ message: String, nearest: String? = nil) {
        guard !excused.contains(position) else { return }
        all.append(Finding(gravity: .warning, position: position, message: message, nearest: nearest))
    }

    public func note(_ position: Position, _ message: String) {
        all.append(Finding(gravity: .note, position: position, message: message, nearest: nil))
    }

    /// Quotes written text for a message: short and without control characters.
    public static func quoted(_ text: String) -> String {
        // the common case is fast, because every value is prepared for quoting
        if text.utf8.count <= 60, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        let plain = text.unicodeScalars.prefix(60).map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        return String(plain) + (text.unicodeScalars.count > 60 ? "…" : "")
    }
}
