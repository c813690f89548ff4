import Authorization
import TLSEngine

/// The files of what is kept over restarts: `kept/NAME.json` in the state directory.
struct StateFiles: Sendable {
    private let folder: StateDirectory

    init(_ directory: StateDirectory) { folder = StateDirectory(path: directory.file("kept")) }

    func path(_ space: StateSpace) -> String { folder.file("\(space.rawValue).json") }

    /// Nil where there is none, or none can be seen.
    func version(_ space: StateSpace) -> FileVersion? { (try? StateFile.version(path(space))) ?? nil }

    /// None where there is no file.
    func read(_ space: StateSpace) throws(FileError) -> StateDocuments {
        guard let bytes = try StateFile.readSecret(path(space), "holds secrets") else { return StateDocuments() }
        do throws(StateDocuments.Fault) {
            return try StateDocuments(reading: bytes.withBytes { Array($0) })
        } catch {
            throw FileError("\(path(space)) \(error.words)")
        }
    }

    /// Makes changes to what a file holds, which others may have changed too. Without any it is read alone.
    /// - Returns: what it holds then, and which version of it that is; the one before where it changes meanwhile.
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
            // what another process has written may leave no room: whoever comes last is not kept
            for (name, change) in changes { _ = documents.put(name, change, of: space) }
            var text = documents.text
            try StateFile.replace(path(space), secret: SecretBytes(taking: &text))
            return (documents, version(space))
        }
    }

    /// What a file holds. One that does not hold documents is put aside, so that nothing is lost and something can be
    /// written.
    private func readable(_ space: StateSpace) throws(FileError) -> StateDocuments {
        guard let bytes = try StateFile.readSecret(path(space), "holds secrets") else { return StateDocuments() }
        guard let documents = try? StateDocuments(reading: bytes.withBytes { Array($0) }) else {
            try StateFile.rename(path(space), to: path(space) + ".damaged")
            return StateDocuments()
        }
        return documents
    }
}
