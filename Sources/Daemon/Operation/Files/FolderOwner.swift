import EventLoop
import Glibc

/// The owner of a folder. Root acts as the owner in a folder of another user. So the user's files cannot lead root to anything
/// that the user may not access.
struct FolderOwner {
    let user: uid_t
    private let folderGroup: gid_t

    private static let turn = Locked(false)

    init(_ status: stat) {
        user = status.st_uid
        folderGroup = status.st_gid
    }

    /// Makes one system call as the owner, if this process is root. It changes all threads of the process.
    /// - Returns: the result of the call, with its `errno`; -1 if root cannot become the owner.
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

    /// - Returns: the identity to restore; nil if the system refuses.
    private func become() -> Identity? {
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        guard getgroups(Int32(groups.count), &groups) == groups.count else { return nil }
        let own = Identity(group: getegid(), groups: groups)
        // the user's own group, because the folder's group may be root's
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
