import EventLoop
import Glibc
import Spill
import TLSEngine

/// The journal's file: `kept/journal.db` in the state directory, readable by its owner only, used by one process at a time.
struct DiskPlace: ~Copyable {
    /// The reason why the journal cannot be stored there.
    enum Fault: Error {
        case file(FileError)
        /// Another process uses the file.
        case taken(String)
        case database(String, SQLiteFault)

        var description: String {
            switch self {
            case .file(let error): error.description
            case .taken(let path):
                "another usher uses \(path); give one of them its own STATE_DIRECTORY"
            case .database(let path, let fault): "\(path): \(fault.description)"
            }
        }

        var isTaken: Bool { if case .taken = self { true } else { false } }
    }

    private let folder: StateDirectory
    /// The number of this run, once known.
    private var run: Int?
    /// Held from the first opening. The next process continues after the last numbers of this one.
    private var lock: Descriptor?

    init(_ directory: StateDirectory) { folder = StateDirectory(path: directory.file("kept")) }

    var path: String { folder.file("journal.db") }

    /// Opens the file and creates it if missing. An unreadable file is moved aside.
    /// - Parameter say: receives a message about a file moved aside.
    mutating func open(_ say: (String) -> Void) throws(Fault) -> FlowArchive {
        do throws(FileError) { try claim() } catch { throw .file(error) }
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
        throw .file(FileError("\(path) keeps being damaged; find out who else writes to it"))
    }

    /// Moves the file aside, so that a new one is created. A file moved aside earlier is deleted.
    func putAside(_ say: (String) -> Void) throws(Fault) {
        let aside = path + ".old"
        do throws(FileError) {
            for end in ["-wal", "-shm"] { try StateFile.remove(aside + end) }
            try StateFile.rename(path, to: aside)
            // the write-ahead log belongs to the file
            if try StateFile.exists(path + "-wal") { try StateFile.rename(path + "-wal", to: aside + "-wal") }
            try StateFile.remove(path + "-shm")
        } catch {
            throw .file(error)
        }
        say(
            "the journal in \(path) cannot be read by this version: it was moved to \(aside), and a new one was "
                + "created")
    }

    /// Releases the file for another process. The numbers of this run's flows stay valid.
    mutating func letGo() { lock = nil }

    private mutating func claim() throws(FileError) {
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
