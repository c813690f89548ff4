import Authorization
import TLSEngine

/// The files of stored state: `kept/NAME.json` in the state directory.
struct StateFiles: Sendable {
    private let folder: StateDirectory

    init(_ directory: StateDirectory) { folder = StateDirectory(path: directory.file("kept")) }

    func path(_ space: StateSpace) -> String { folder.file("\(space.rawValue).json") }

    /// Nil if there is no file, or if it is not accessible.
    func version(_ space: StateSpace) -> FileVersion? { (try? StateFile.version(path(space))) ?? nil }

    /// Empty if there is no file.
    func read(_ space: StateSpace) throws(FileError) -> StateDocuments {
        guard let bytes = try StateFile.readSecret(path(space), "has secrets") else { return StateDocuments() }
        do throws(StateDocuments.Fault) {
            return try StateDocuments(reading: bytes.withBytes { Array($0) })
        } catch {
            throw FileError("\(path(space)) \(error.words)")
        }
    }

    /// Applies changes to a file that other processes may have changed, too. Without changes, it only reads.
    /// - Returns: the content and its version; the previous version if the file changes meanwhile.
    func merge(
        _ space: StateSpace, _ changes: [String: DocumentChange]
    ) throws(FileError) -> (StateDocuments, FileVersion?) {
        guard !changes.isEmpty else {
            let version = version(space)
            return (try read(space), version)
        }
        try folder.make()
        return try StateFile.locked(folder, mayGoWithout: false) {
            () throws(FileError) -> (StateDocuments, FileVersion?) in
            var documents = try readable(space)
            // documents of another process may leave no room; the latest ones are then dropped
            for (name, change) in changes { _ = documents.put(name, change, of: space) }
            var text = documents.text
            try StateFile.replace(path(space), secret: SecretBytes(taking: &text))
            return (documents, version(space))
        }
    }

    /// The content of a file. An unreadable file is moved aside, so that nothing is lost and writing can continue.
    private func readable(_ space: StateSpace) throws(FileError) -> StateDocuments {
        guard let bytes = try StateFile.readSecret(path(space), "has secrets") else { return StateDocuments() }
        guard let documents = try? StateDocuments(reading: bytes.withBytes { Array($0) }) else {
            try StateFile.rename(path(space), to: path(space) + ".damaged")
            return StateDocuments()
        }
        return documents
    }
}
