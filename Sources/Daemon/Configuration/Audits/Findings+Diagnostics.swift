internal import Declaration

extension Findings {
    /// In file order, without duplicates: a value that aliases repeat is checked at every use.
    var diagnostics: [Diagnostic] {
        var seen: Set<String> = []
        return all.enumerated()
            .sorted {
                ($0.element.position, $0.offset) < ($1.element.position, $1.offset)
            }
            .map { diagnostic($0.element) }
            .filter { seen.insert($0.description).inserted }
    }

    private func diagnostic(_ finding: Finding) -> Diagnostic {
        let severity: Diagnostic.Severity =
            switch finding.gravity {
            case .error: .error
            case .warning: .warning
            case .note: .note
            }
        return Diagnostic(
            severity, file: file(finding.position), line: finding.position.line,
            column: finding.position.column, message: finding.message, nearest: finding.nearest)
    }
}
