import EventLoop
import Glibc

/// The control socket and its file. It removes the file at the end, unless another daemon has replaced it.
final class ControlSocket {
    private(set) var path: String
    /// The listening descriptor; -1 after it was taken.
    private var number: Int32
    private let file: FilePath
    /// Identifies the file, because another daemon may replace it.
    private let inode: ino_t?
    /// The second path of the socket, for the time after another daemon has replaced the first.
    private var aside: String?

    /// In milliseconds. The longest wait for another daemon's work in the same folder.
    private static let patience = 2_000

    /// Opens the socket. It replaces the file of a daemon that has ended, but not that of a running one.
    /// - Parameters:
    ///   - group: may open the socket in addition to the owner; nil for the group of this process.
    ///   - replaces: true to replace a running daemon's file atomically.
    init(at path: String, group: SocketGroup? = nil, replaces: Bool = false) throws(FileError) {
        self.path = path
        file = FilePath(path)
        guard let folder = try OpenFolder.at(file.folder, makes: true) else {
            throw FileError(path, cannotBe: "made", ENOENT)
        }
        guard !folder.isOpenToOthers else {
            throw FileError(
                "others may replace \(path) by their own socket: name one in a folder that only you can write to")
        }
        // bind uses the path, which the folder's owner could redirect in the meantime
        guard [0, geteuid()].contains(folder.owner.user) else {
            throw FileError(
                "\(file.folder) belongs to user \(folder.owner.user), who may replace \(path): name one in a "
                    + "folder that only you can write to"
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

    /// The listening descriptor, once.
    func take() -> Descriptor {
        defer { number = -1 }
        return Descriptor(owning: number)
    }

    /// Adds a second path, for a process that is about to take the first. It is removed with the socket.
    func stepAside() {
        let name = "\(file.name)-\(getpid())"
        guard aside == nil, let inode, let folder = try? OpenFolder.at(file.folder),
            folder.inode(of: file.name) == inode,
            folder.link(file.name, as: name)
        else { return }
        aside = name
        path = "\(file.folder)/\(name)"
    }

    /// Removes the second path, because no process took the first.
    func stepBack() {
        if let aside, let folder = try? OpenFolder.at(file.folder) { folder.remove(aside) }
        aside = nil
        path = "\(file.folder)/\(file.name)"
    }

    /// Removes the file, unless it belongs to another daemon by now.
    func remove() {
        guard let inode, let folder = try? OpenFolder.at(file.folder) else { return }
        for name in [file.name, aside ?? file.name] where folder.inode(of: name) == inode { folder.remove(name) }
    }

    /// Locks the folder against other daemons until the descriptor is closed.
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
        guard folder.isSocket(name) else { throw FileError("\(path) exists and is not a socket") }
        guard !LocalSocket.isAnswered(at: path) else { throw FileError("another usher is running at \(path)") }
        folder.remove(name)
        guard !folder.has(name) else { throw FileError(path, cannotBe: "replaced", EPERM) }
    }
}
