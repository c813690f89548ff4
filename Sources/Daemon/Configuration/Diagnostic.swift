/// One finding about a configuration, without the values of secrets.
public struct Diagnostic: Equatable, Sendable {
    public enum Severity: String, Sendable { case error, warning, note }

    public var severity: Severity
    /// As it was passed to the loader.
    public var file: String
    /// Starts at 1.
    public var line: Int
    /// Starts at 1, counts Unicode scalars.
    public var column: Int
    /// The problem, the expectation and the remedy, without the suggestion.
    public var message: String
    /// The known name that was likely meant.
    public var nearest: String?

    public init(
        _ severity: Severity, file: String, line: Int, column: Int, message: String, nearest: String? = nil
    ) {
        self.severity = severity
        self.file = file
        self.line = line
        self.column = column
        self.message = message
        self.nearest = nearest
    }
}

extension Diagnostic: CustomStringConvertible {
    /// `usher.yaml:12:5: error: unknown key "wehn"; did you mean "when"?`
    public var description: String { "\(file):\(line):\(column): \(severity.rawValue): \(words)" }

    /// The message with the suggestion, without the place.
    public var words: String { message + (nearest.map { "; did you mean \"\($0)\"?" } ?? "") }
}
