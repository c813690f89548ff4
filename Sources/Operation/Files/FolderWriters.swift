import Glibc

/// Who may make, remove and rename what is in a folder, beside its owner.
enum FolderWriters: Equatable {
    case nobodyElse
    case group(gid_t)
    case everybody

    init(_ folder: stat) {
        if folder.st_mode & S_IWOTH != 0 {
            self = .everybody
        } else if folder.st_mode & S_IWGRP != 0, !Self.isOwnersAlone(folder.st_gid, folder.st_uid) {
            self = .group(folder.st_gid)
        } else {
            self = .nobodyElse
        }
    }

    /// Nobody is in root's group who may not do everything, or is root in a container. A umask of 002 is usual where each
    /// user has a group that bears the user's name and has no other member; OpenSSH lets that pass, too. Whose primary group
    /// it is besides is not looked for: that would take the whole of a directory service.
    private static func isOwnersAlone(_ group: gid_t, _ owner: uid_t) -> Bool {
        guard group != 0 else { return true }
        guard let account = getpwuid(owner), let name = account.pointee.pw_name else { return group == owner }
        guard account.pointee.pw_gid == group else { return false }
        let user = String(cString: name)
        guard let entry = getgrgid(group), let title = entry.pointee.gr_name, String(cString: title) == user else {
            return false
        }
        var member = entry.pointee.gr_mem
        while let place = member, let next = place.pointee {
            guard String(cString: next) == user else { return false }
            member = place + 1
        }
        return true
    }

    /// In words, and the part of chmod's argument that ends it. Nil for nobody.
    var words: (who: String, mode: String)? {
        switch self {
        case .nobodyElse: nil
        case .group(let group): ("group \(group)", "g-w")
        case .everybody: ("everybody", "o-w")
        }
    }
}
