internal import Declaration
internal import Glibc
internal import Interception
internal import Scripts

/// The scripts of one configuration. Interceptors with equal terms share one.
final class ScriptShelf {
    private var lines: [ScriptTerms: ScriptLine] = [:]
    private let isOpen: Bool

    /// - Parameter isOpen: false for an overlay, which must not start programs of its own.
    init(_ known: [ScriptLine] = [], isOpen: Bool = true) {
        for line in known { lines[line.terms] = line }
        self.isOpen = isOpen
    }

    func line(_ terms: ScriptTerms, _ name: String, _ position: Position, _ findings: Findings) -> ScriptLine? {
        if let line = lines[terms] { return line }
        // the base of a relative path is another folder in an overlay
        if !isOpen, let line = lines.values.first(where: { $0.terms.means(terms) }) { return line }
        guard isOpen else {
            findings.error(
                position,
                "a test session starts no programs; write a script that the configuration has, with the same keys")
            return nil
        }
        let place = ScriptLine.Place(file: findings.file(position), line: position.line, column: position.column)
        let line = ScriptLine(name, terms, at: place)
        lines[terms] = line
        return line
    }
}

extension ScriptTerms {
    /// Whether the other terms differ in nothing but their folder.
    fileprivate func means(_ other: ScriptTerms) -> Bool {
        var other = other
        (other.folder, other.files) = (folder, files)
        return self == other
    }
}

extension MaterialReader {
    /// The terms with the folder of the file that names them, and the versions of the files that the command names.
    func placed(_ terms: ScriptTerms, _ position: Position) -> ScriptTerms {
        guard case .run(let command) = terms.origin else { return terms }
        var terms = terms
        let folder = secrets.folder(of: position)
        terms.folder = folder.isEmpty ? "." : folder
        terms.files = command.map { argument in
            var state = stat()
            let path = argument.hasPrefix("/") ? argument : "\(terms.folder)/\(argument)"
            guard argument.contains("/") || argument.contains("."), stat(path, &state) == 0 else { return "" }
            return "\(state.st_ino) \(state.st_size) \(state.st_mtim.tv_sec) \(state.st_mtim.tv_nsec)"
        }
        return terms
    }
}
