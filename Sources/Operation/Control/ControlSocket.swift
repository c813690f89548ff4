import EventLoop
import Glibc

/// The control socket and its file, which is there for as long as the daemon is, and nobody else's.
final class ControlSocket {
    let path: String
    /// Listens; -1 once it was taken.
    private var number: Int32
    private let file: FilePath
    /// By which the file is known again: another daemon's may have taken its place.
    private let inode: ino_t?

    /// Milliseconds that other daemons may take over the same folder.
    private static let patience = 2_000

    /// Opens it. A file that a dead daemon left behind is replaced; a living daemon's is not.
    init(at path: String) throws(FileError) {
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
        try Self.makeRoom(path, folder, file.name)
        do throws(SystemError) { number = try LocalSocket.listen(at: path).release() } catch {
            throw FileError("\(path) cannot be opened: \(error.reason)")
        }
        inode = folder.inode(of: file.name)
    }

    deinit { if number >= 0 { close(number) } }

    /// What listens, once.
    func take() -> Descriptor {
        defer { number = -1 }
        return Descriptor(owning: number)
    }

    /// Takes the file away, unless another daemon's is in its place.
    func remove() {
        guard let inode, let folder = try? OpenFolder.at(file.folder), folder.inode(of: file.name) == inode else {
            return
        }
        folder.remove(file.name)
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
