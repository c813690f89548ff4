import Authorization
import TLSEngine

/// The files of what is kept over restarts: `kept/NAME.json` in the state directory.
struct StateFiles: Sendable {
    private let folder: StateDirectory

    init(_ directory: StateDirectory) { folder = StateDirectory(path: directory.file("kept")) }

    func path(_ space: StateSpace) -> String { folder.file("\(space.rawValue).json") }

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
    /// - Parameter changes: nil for what is removed.
    /// - Returns: what it holds then.
    func merge(_ space: StateSpace, _ changes: [String: [UInt8]?]) throws(FileError) -> StateDocuments {
        guard !changes.isEmpty else { return try read(space) }
        try folder.make()
        return try StateFile.locked(folder, mayGoWithout: false) { () throws(FileError) -> StateDocuments in
            var documents = try readable(space)
            // what another process has written may leave no room: whoever comes last is not kept
            for (name, value) in changes { _ = documents.put(name, value) }
            var text = documents.text
            try StateFile.replace(path(space), secret: SecretBytes(taking: &text))
            return documents
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
