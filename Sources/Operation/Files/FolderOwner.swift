import EventLoop
import Glibc

/// Whom a folder belongs to. Root lays its power down while it touches what is another's: whatever that user has put there,
/// root then reaches no more than the user does.
struct FolderOwner {
    let user: uid_t
    private let folderGroup: gid_t

    private static let turn = Locked(false)

    init(_ status: stat) {
        user = status.st_uid
        folderGroup = status.st_gid
    }

    /// Makes one system call as the owner where this process is root's; else as itself. For all threads of the process.
    /// - Returns: what the call returned, with its `errno`; -1 where root cannot become the owner.
    func act(_ call: () -> Int32) -> Int32 {
        guard geteuid() == 0, user != 0 else { return call() }
        let (result, code) = Self.turn.withLock { _ in
            guard let own = become() else { return (Int32(-1), errno) }
            let result = call()
            let code = errno
            return Self.restore(own) ? (result, code) : (-1, EPERM)
        }
        errno = code
        return result
    }

    private struct Identity {
        let group: gid_t
        let groups: [gid_t]
    }

    /// - Returns: what to go back to; nil where the system refuses.
    private func become() -> Identity? {
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        guard getgroups(Int32(groups.count), &groups) == groups.count else { return nil }
        let own = Identity(group: getegid(), groups: groups)
        // the user's own group: that of the folder may be root's
        let group = getpwuid(user)?.pointee.pw_gid ?? folderGroup
        guard setgroups(0, nil) == 0, setegid(group) == 0, seteuid(user) == 0 else {
            let code = errno
            _ = Self.restore(own)
            errno = code
            return nil
        }
        return own
    }

    private static func restore(_ own: Identity) -> Bool {
        seteuid(0) == 0 && setegid(own.group) == 0 && setgroups(own.groups.count, own.groups) == 0
    }
}
