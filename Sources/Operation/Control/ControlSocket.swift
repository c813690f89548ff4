import EventLoop
import Glibc

/// The control socket and its file, which is there for as long as the daemon is, and nobody else's.
final class ControlSocket {
    private(set) var path: String
    /// Listens; -1 once it was taken.
    private var number: Int32
    private let file: FilePath
    /// By which the file is known again: another daemon's may have taken its place.
    private let inode: ino_t?
    /// Where else it is since another one took its place.
    private var aside: String?

    /// Milliseconds that other daemons may take over the same folder.
    private static let patience = 2_000

    /// Opens it. A file that a dead daemon left behind is replaced; a living daemon's is not.
    /// - Parameters:
    ///   - group: whose members may open it, beside the owner; nil for the group of this process.
    ///   - replaces: a living one's is, without a moment in which there is none.
    init(at path: String, group: SocketGroup? = nil, replaces: Bool = false) throws(FileError) {
        self.path = path
        file = FilePath(path)
        guard let folder = try OpenFolder.at(file.folder, makes: true) else {
            throw FileError(path, cannotBe: "made", ENOENT)
        }
        guard !folder.isOpenToOthers else {
            throw FileError(
                "others may put a socket of theirs in the place of \(path): name one in a folder that is yours alone")
        }
        // it is made by its path, and whoever owns the folder decides what that is by the next moment
        guard [0, geteuid()].contains(folder.owner.user) else {
            throw FileError(
                "\(file.folder) belongs to user \(folder.owner.user), who may put anything in the place of \(path): name one in a folder that is yours alone"
            )
        }
        let lock = folder.openHere()
        guard lock.number >= 0 else { throw FileError(file.folder, cannotBe: "entered") }
        try Self.lock(lock, file.folder)
        let name = replaces ? ".\(file.name)-\(getpid())" : file.name
        let place = "\(file.folder)/\(name)"
        try Self.makeRoom(place, folder, name)
        do throws(SystemError) { number = try LocalSocket.listen(at: place, group: group?.number).release() } catch {
            folder.remove(name)
            if let group, error.call == "chown" { throw group.refusal }
            throw FileError("\(path) cannot be opened: \(error.reason)")
        }
        inode = folder.inode(of: name)
        if replaces { try folder.rename(name, to: file.name) }
    }

    deinit { if number >= 0 { close(number) } }

    /// What listens, once.
    func take() -> Descriptor {
        defer { number = -1 }
        return Descriptor(owning: number)
    }

    /// Has it found by another name as well, for one that is about to take its place. The name goes with it.
    func stepAside() {
        let name = "\(file.name)-\(getpid())"
        guard aside == nil, let inode, let folder = try? OpenFolder.at(file.folder),
            folder.inode(of: file.name) == inode,
            folder.link(file.name, as: name)
        else { return }
        aside = name
        path = "\(file.folder)/\(name)"
    }

    /// No other one came.
    func stepBack() {
        if let aside, let folder = try? OpenFolder.at(file.folder) { folder.remove(aside) }
        aside = nil
        path = "\(file.folder)/\(file.name)"
    }

    /// Takes the file away, unless another daemon's is in its place.
    func remove() {
        guard let inode, let folder = try? OpenFolder.at(file.folder) else { return }
        for name in [file.name, aside ?? file.name] where folder.inode(of: name) == inode { folder.remove(name) }
    }

    /// Keeps other daemons from doing the same here at the same time, until the descriptor is closed.
    private static func lock(_ folder: borrowing Descriptor, _ path: String) throws(FileError) {
        let end = Loop.monotonicMilliseconds() + patience
        while flock(folder.number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, Loop.monotonicMilliseconds() < end else {
                throw FileError(path, cannotBe: "locked")
            }
            poll(nil, 0, 10)
        }
    }

    private static func makeRoom(_ path: String, _ folder: borrowing OpenFolder, _ name: String) throws(FileError) {
        guard folder.has(name) else { return }
        guard folder.isSocket(name) else { throw FileError("\(path) is there already, and is no socket") }
        guard !LocalSocket.isAnswered(at: path) else { throw FileError("another usher answers at \(path)") }
        folder.remove(name)
        guard !folder.has(name) else { throw FileError(path, cannotBe: "replaced", EPERM) }
    }
}
