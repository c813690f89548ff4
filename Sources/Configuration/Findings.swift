/// Gathers the diagnostics of one load. A class, for every part of the loader adds to the same list; it never leaves
/// the load that made it.
final class Findings {
    private let file: String
    private var found: [Diagnostic] = []

    init(file: String) { self.file = file }

    /// `usher.yaml:12:5`.
    func place(_ position: Position) -> String { "\(file):\(position.line):\(position.column)" }

    private(set) var hasErrors = false

    func error(_ position: Position, _ message: String, nearest: String? = nil) {
        hasErrors = true
        add(.error, position, message, nearest)
    }

    func warning(_ position: Position, _ message: String, nearest: String? = nil) {
        add(.warning, position, message, nearest)
    }

    private func add(_ severity: Diagnostic.Severity, _ position: Position, _ message: String, _ nearest: String?) {
        found.append(
            Diagnostic(
                severity, file: file, line: position.line, column: position.column, message: message, nearest: nearest))
    }

    /// In the order of the file, each once: a value that aliases repeat is judged at every use.
    var diagnostics: [Diagnostic] {
        var seen: Set<String> = []
        return found.enumerated()
            .sorted {
                ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
            }
            .map(\.element)
            .filter { seen.insert($0.description).inserted }
    }
}
