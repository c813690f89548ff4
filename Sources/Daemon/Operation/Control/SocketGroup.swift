import Glibc

/// `admin.group`: its members may open the control socket.
struct SocketGroup {
    let name: String
    let number: gid_t

    init(named name: String) throws(FileError) {
        guard let entry = getgrnam(name) else {
            throw FileError("admin.group: there is no group \(name); create it: addgroup --system \(name)")
        }
        self.name = name
        number = entry.pointee.gr_gid
    }

    /// The error if the process may not give files to the group: only members may.
    var refusal: FileError {
        FileError(
            "the socket cannot be given to the group \(name) because the daemon is not in it: add "
                + "SupplementaryGroups=\(name) to its unit, or adduser USER \(name)"
        )
    }

    /// The reason why members of the group cannot reach a socket; nil if they can.
    func remark(on path: String) -> String? {
        let folder = FilePath(path).folder
        var status = stat()
        guard stat(folder, &status) == 0 else { return nil }
        let isOpen = status.st_mode & S_IXOTH != 0 || status.st_gid == number && status.st_mode & S_IXGRP != 0
        guard !isOpen else { return nil }
        return
            "members of the group \(name) cannot enter \(folder), the folder of the control socket: chgrp \(name) "
            + "\(folder) && chmod g+x \(folder), or set admin.socket to another folder"
    }
}
