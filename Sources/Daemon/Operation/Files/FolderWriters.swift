import Glibc

/// The users, other than the owner, who may create, remove and rename files in a folder.
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

    /// Treats two groups as the owner's own. Root's group is trusted. A group with the user's name and no other member is usual
    /// with a umask of 002, and OpenSSH accepts it, too. Other users with this primary group are not searched for, because that
    /// would read a whole directory service.
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

    /// A description, and the argument of chmod that removes the permission. Nil if there are no others.
    var words: (who: String, mode: String)? {
        switch self {
        case .nobodyElse: nil
        case .group(let group): ("group \(group)", "g-w")
        case .everybody: ("everybody", "o-w")
        }
    }
}
