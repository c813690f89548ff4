public import Glibc

/// Unix sockets, which have a path instead of an address.
public enum LocalSocket {
    /// The longest path that the kernel accepts (unix(7)). A longer one is reached through its folder.
    private static let longestPath = 107

    /// Opens a listening socket. Only its owner and group may connect.
    /// - Parameter group: nil for the group of this process.
    /// - Throws: `SystemError`; `ENAMETOOLONG` for a long name.
    public static func listen(at path: String, group: gid_t? = nil) throws(SystemError) -> Descriptor {
        let descriptor = try open(Dialer.nonBlocking)
        // sets the mode before the path exists, so that nobody can connect earlier
        guard fchmod(descriptor.number, mode) == 0 else { throw SystemError("fchmod") }
        guard withAddress(path, { bind(descriptor.number, $0, $1) }) == 0 else { throw SystemError("bind") }
        if let group { guard lchown(path, uid_t.max, group) == 0 else { throw SystemError("chown") } }
        // sets the mode again, since a umask may have reduced it
        guard chmod(path, mode) == 0 else { throw SystemError("chmod") }
        guard Glibc.listen(descriptor.number, 64) == 0 else { throw SystemError("listen") }
        return descriptor
    }

    private static let mode: mode_t = 0o660

    /// Connects, or fails at once.
    static func connect(_ descriptor: borrowing Descriptor, to path: String) throws(SystemError) {
        guard withAddress(path, { Glibc.connect(descriptor.number, $0, $1) }) == 0 else { throw SystemError("connect") }
    }

    /// Connects to a listening process, without waiting.
    public static func connect(to path: String) throws(SystemError) -> Descriptor {
        let descriptor = try open(Dialer.nonBlocking)
        try connect(descriptor, to: path)
        return descriptor
    }

    /// Whether a process listens there.
    public static func isAnswered(at path: String) -> Bool {
        guard let descriptor = try? open(Dialer.nonBlocking) else { return true }
        // a full queue means that a process listens
        do throws(SystemError) { try connect(descriptor, to: path) } catch {
            return error.code != ECONNREFUSED && error.code != ENOENT
        }
        return true
    }

    /// The user who connected; nil if the system does not tell.
    public static func peer(_ descriptor: borrowing Descriptor) -> uid_t? {
        // struct ucred (process, user, group), which glibc declares for C alone
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var count = socklen_t(MemoryLayout.size(ofValue: credentials))
        let found = getsockopt(descriptor.number, SOL_SOCKET, SO_PEERCRED, &credentials, &count)
        return found == 0 && count == 12 ? credentials.1 : nil
    }

    static func open(_ flags: Int32 = 0) throws(SystemError) -> Descriptor {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | flags | Dialer.closeOnExec, 0)
        guard number >= 0 else { throw SystemError("socket") }
        return Descriptor(owning: number)
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        guard path.utf8.count > longestPath, let slash = path.lastIndex(of: "/") else {
            return withShortAddress(path, body)
        }
        // O_PATH, which glibc declares for C alone
        let folder = Glibc.open(String(path[..<slash]), 0o10000000 | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return -1 }
        defer { close(folder) }
        return withShortAddress("/proc/self/fd/\(folder)\(path[slash...])", body)
    }

    private static func withShortAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        let bytes = Array(path.utf8)
        guard bytes.count <= longestPath, !bytes.isEmpty else {
            errno = ENAMETOOLONG
            return -1
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + 1)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

extension LocalSocket {
    /// Opens a datagram socket to a listening process. Sending blocks if there is no room.
    public static func connectDatagrams(to path: String) throws(SystemError) -> Descriptor {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Dialer.closeOnExec, 0)
        guard number >= 0 else { throw SystemError("socket") }
        let descriptor = Descriptor(owning: number)
        try connect(descriptor, to: path)
        return descriptor
    }
}
