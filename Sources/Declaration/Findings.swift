/// Gathers what is wrong with a configuration, or likely not meant. A class, for every part of the loader adds to the
/// same list; it never leaves the load that made it.
public final class Findings {
    public enum Gravity: Sendable {
        case error, warning
        /// Nothing is wrong with the configuration itself.
        case note
    }

    /// One of them.
    public struct Finding: Sendable {
        public var gravity: Gravity
        public var position: Position
        /// What is wrong, what was expected, what to do; without the suggestion.
        public var message: String
        /// The known name that was likely meant.
        public var nearest: String?
    }

    /// As they were given to the loader; places name them by their number.
    public let files: [String]
    public private(set) var all: [Finding] = []
    public private(set) var hasErrors = false

    /// Where what stands in for something is judged, which is nobody's fault.
    private var excused: Set<Position> = []

    public init(file: String) { files = [file] }

    public init(files: [String]) { self.files = files }

    public func file(_ position: Position) -> String {
        files.indices.contains(position.file) ? files[position.file] : ""
    }

    /// `usher.yaml:12:5`.
    public func place(_ position: Position) -> String {
        "\(file(position)):\(position.line):\(position.column)"
    }

    /// Another place, as a message at the first one names it: `line 12`, or with its file where that is another.
    public func place(_ other: Position, from position: Position) -> String {
        other.file == position.file ? "line \(other.line)" : place(other)
    }

    /// Takes over what was found in one file, read by itself.
    public func take(_ others: Findings, file: Int) {
        for var finding in others.all {
            finding.position.file = file
            all.append(finding)
        }
        hasErrors = hasErrors || others.hasErrors
    }

    /// Has nothing more be wrong there, nor unusual: what is found there is not what was meant.
    public func excuse(_ position: Position) { excused.insert(position) }

    /// Whether what stands there may be any value, so that nothing is wrong for its sake elsewhere.
    public func isExcused(_ position: Position) -> Bool { excused.contains(position) }

    /// Whether any entry of a list may be any value.
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

    /// What was written, as a message quotes it: short and without control characters.
    public static func quoted(_ text: String) -> String {
        // nearly every value of a file is, and each is made ready to be quoted
        if text.utf8.count <= 60, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        let plain = text.unicodeScalars.prefix(60).map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        return String(plain) + (text.unicodeScalars.count > 60 ? "…" : "")
    }
}
