/// Gathers what is wrong with a configuration, or likely not meant. A class, for every part of the loader adds to the
/// same list; it never leaves the load that made it.
public final class Findings {
    /// One of them.
    public struct Finding: Sendable {
        public var isError: Bool
        public var position: Position
        /// What is wrong, what was expected, what to do; without the suggestion.
        public var message: String
        /// The known name that was likely meant.
        public var nearest: String?
    }

    public let file: String
    public private(set) var all: [Finding] = []
    public private(set) var hasErrors = false

    /// - Parameter file: as it was given to the loader.
    public init(file: String) { self.file = file }

    /// `usher.yaml:12:5`.
    public func place(_ position: Position) -> String { "\(file):\(position.line):\(position.column)" }

    public func error(_ position: Position, _ message: String, nearest: String? = nil) {
        hasErrors = true
        all.append(Finding(isError: true, position: position, message: message, nearest: nearest))
    }

    public func warning(_ position: Position, _ message: String, nearest: String? = nil) {
        all.append(Finding(isError: false, position: position, message: message, nearest: nearest))
    }

    /// What was written, as a message quotes it: short and without control characters.
    public static func quoted(_ text: String) -> String {
        let plain = text.unicodeScalars.prefix(60).map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        return String(plain) + (text.unicodeScalars.count > 60 ? "…" : "")
    }
}
