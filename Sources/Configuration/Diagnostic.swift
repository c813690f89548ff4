/// One fault of a configuration, or one thing that is likely not meant. Never holds the value of a secret.
public struct Diagnostic: Equatable, Sendable {
    public enum Severity: String, Sendable { case error, warning, note }

    public var severity: Severity
    /// As it was given to the loader.
    public var file: String
    /// From 1.
    public var line: Int
    /// From 1, in Unicode scalars.
    public var column: Int
    /// What is wrong, what was expected, what to do; without the suggestion.
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
    public var description: String {
        let suggestion = nearest.map { "; did you mean \"\($0)\"?" } ?? ""
        return "\(file):\(line):\(column): \(severity.rawValue): \(message)\(suggestion)"
    }
}
