import EventLoop
import Glibc
import Spill
import TLSEngine

/// Where the journal lies on the disk: `kept/journal.db` in the state directory, which its owner alone may read, and which one
/// process at a time keeps.
struct DiskPlace: ~Copyable {
    /// Why the journal cannot be kept there.
    enum Fault: Error {
        case file(FileError)
        /// Another process has the place.
        case taken(String)
        case database(String, SQLiteFault)

        var description: String {
            switch self {
            case .file(let error): error.description
            case .taken(let path):
                "another usher keeps its own in \(path); give one of them a STATE_DIRECTORY of its own"
            case .database(let path, let fault): "\(path): \(fault.description)"
            }
        }

        var isTaken: Bool { if case .taken = self { true } else { false } }
    }

    private let folder: StateDirectory
    /// Of this process, once it is known.
    private var run: Int?
    /// Held from the first opening on: what was given last by one process is what another begins behind.
    private var lock: Descriptor?

    init(_ directory: StateDirectory) { folder = StateDirectory(path: directory.file("kept")) }

    var path: String { folder.file("journal.db") }

    /// Opens the file, made where there is none. What cannot be read is put aside.
    /// - Parameter say: is told of what was put aside.
    mutating func open(_ say: (String) -> Void) throws(Fault) -> FlowArchive {
        do throws(FileError) { try take() } catch { throw .file(error) }
        guard lock != nil else { throw .taken(path) }
        for _ in 0..<2 {
            do throws(FileError) { try make() } catch { throw .file(error) }
            do throws(SQLiteFault) {
                if case .open(let archive) = try FlowArchive.open(path, run: run) {
                    run = archive.runNumber
                    return archive
                }
            } catch  where error.isDamage {
                say("the journal in \(path) is damaged (\(error.description))")
            } catch {
                throw .database(path, error)
            }
            try putAside(say)
        }
        throw .file(FileError("\(path) is put aside again and again; see who else writes there"))
    }

    /// Has a new file begun in this one's place, which is kept beside it. One that was put aside before goes.
    func putAside(_ say: (String) -> Void) throws(Fault) {
        let aside = path + ".old"
        do throws(FileError) {
            for end in ["-wal", "-shm"] { try StateFile.remove(aside + end) }
            try StateFile.rename(path, to: aside)
            // what was not brought into the file yet belongs to it
            if try StateFile.exists(path + "-wal") { try StateFile.rename(path + "-wal", to: aside + "-wal") }
            try StateFile.remove(path + "-shm")
        } catch {
            throw .file(error)
        }
        say("the journal in \(path) cannot be read by this version: it lies in \(aside) now, and a new one is begun")
    }

    /// Another process may keep its own there. What this one's flows are known by stays.
    mutating func letGo() { lock = nil }

    private mutating func take() throws(FileError) {
        guard lock == nil else { return }
        try folder.make()
        lock = try StateFile.hold(folder.file("journal.lock"))
    }

    private func make() throws(FileError) {
        if try StateFile.opened(path) != nil { return }
        var none: [UInt8] = []
        try StateFile.create(path, secret: SecretBytes(taking: &none))
    }
}
