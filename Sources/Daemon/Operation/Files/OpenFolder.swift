import EventLoop
import Glibc

/// An open folder. Operations use its descriptor, so that the folder cannot be replaced in the meantime.
struct OpenFolder: ~Copyable {
    let path: String
    let owner: FolderOwner
    /// True if group or others may create, remove and rename files in it.
    private let isShared: Bool
    /// True if users may remove only their own files in such a folder.
    private let isSticky: Bool
    /// The problem and the remedy if a folder above it is writable by others, who could replace this one.
    private let openAncestor: String?
    private let descriptor: Descriptor

    /// The largest number of links on the way to a folder.
    private static let linkLimit = 32
    private static let longestLink = 4096
    /// O_PATH of open(2): opens a folder without read permission. Glibc's header hides the constant from Swift.
    private static let pathOnly: Int32 = 0o10000000
    /// AT_EACCESS of faccessat(2), given as a number for the same reason.
    private static let effectiveIdentity: Int32 = 0x200

    /// Opens a folder. Links on the way are followed only if root or this user created them, because others could change theirs
    /// meanwhile.
    /// - Parameter makes: true to create missing folders, readable by their owner only, in the name of the owner of the folder
    ///   above.
    /// - Returns: nil if there is no such folder.
    static func at(_ path: String, makes: Bool = false) throws(FileError) -> OpenFolder? {
        var current = try start(path)
        var status = try Self.status(current, path)
        var rest = parts(path)
        var links = 0
        var openAncestor: String?
        var walked = path.hasPrefix("/") ? "" : "."
        while let part = rest.popLast() {
            var number = openat(current.number, part, pathOnly | O_NOFOLLOW | O_CLOEXEC)
            if number < 0, errno == ENOENT, makes {
                // another process may be faster
                let above = current.number
                guard FolderOwner(status).act({ mkdirat(above, part, 0o700) }) == 0 || errno == EEXIST else {
                    throw failure(path, "made")
                }
                number = openat(current.number, part, pathOnly | O_NOFOLLOW | O_CLOEXEC)
            }
            guard number >= 0 else {
                if errno == ENOENT, !makes { return nil }
                throw failure(path, makes ? "made" : "entered")
            }
            let next = Descriptor(owning: number)
            let found = try Self.status(next, path)
            openAncestor = Self.openness(of: status, walked, part, found) ?? openAncestor
            guard found.st_mode & S_IFMT == S_IFLNK else {
                guard found.st_mode & S_IFMT == S_IFDIR else {
                    if !makes { return nil }
                    throw rest.isEmpty
                        ? FileError(
                            "\(path) is not a folder; set STATE_DIRECTORY to one") : failure(path, "made", ENOTDIR)
                }
                current = next
                status = found
                walked += "/\(part)"
                continue
            }
            guard found.st_uid == 0 || found.st_uid == geteuid() else {
                throw FileError(
                    "\(path) cannot be entered: \(part) is a symbolic link of user \(found.st_uid), who may change "
                        + "its target (name the folder itself)"
                )
            }
            links += 1
            guard links <= linkLimit, let target = target(of: next) else { throw failure(path, "entered", ELOOP) }
            if target.hasPrefix("/") {
                current = try start(target)
                status = try Self.status(current, path)
                walked = ""
            }
            rest += parts(target)
        }
        return OpenFolder(
            path: path, owner: FolderOwner(status), isShared: status.st_mode & (S_IWGRP | S_IWOTH) != 0,
            isSticky: status.st_mode & S_ISVTX != 0, openAncestor: openAncestor, descriptor: current)
    }

    /// - Throws: `FileError` if others than the folder's owner may replace its files.
    func mustBePrivate() throws(FileError) {
        guard !isShared else {
            throw FileError(
                "users other than the owner may change \(path), and so the CA that programs trust (chmod go-w \(path))"
            )
        }
        guard owner.user == 0 || owner.user == geteuid() || openAncestor == nil else {
            throw FileError("\(path) is not safe: \(openAncestor ?? "")")
        }
    }

    /// For files that other programs open by their path without checking the owner.
    /// - Throws: `FileError` if others may replace this folder.
    func mustKeepItsPlace() throws(FileError) {
        guard let openAncestor else { return }
        throw FileError("\(path) is not safe for trusted certificates: \(openAncestor)")
    }

    /// True if others than the owner may replace existing files.
    var isOpenToOthers: Bool { isShared && !isSticky || openAncestor != nil }

    /// True if files can be created in it.
    var isWritable: Bool { owner.act { faccessat(descriptor.number, ".", W_OK, Self.effectiveIdentity) } == 0 }

    // MARK: files

    /// Opens a file of the folder's owner. It must be a regular file with one name.
    /// - Parameter deed: the operation, for messages: `read`.
    /// - Returns: nil if there is no such file.
    func file(_ name: String, _ flags: Int32, _ deed: String, mode: mode_t = 0) throws(FileError) -> Descriptor? {
        let number = owner.act {
            // non-blocking, because opening a FIFO waits for the other side
            openat(descriptor.number, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode)
        }
        guard number >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP:
                throw FileError(
                    "\(full(name)) is a symbolic link, which usher does not follow here (replace it by the file, "
                        + "or name its target; a key can also be \"${file:PATH}\")"
                )
            default: throw FileError(full(name), cannotBe: deed)
            }
        }
        let file = Descriptor(owning: number)
        let status = try Self.status(file, full(name))
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError("\(full(name)) is not a file") }
        try mustBeOwn(status, name)
        return file
    }

    /// Creates a file that does not exist yet.
    func newFile(_ name: String, mode: mode_t) throws(FileError) -> Descriptor {
        let number = owner.act {
            openat(descriptor.number, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        }
        guard number >= 0 else { throw FileError(full(name), cannotBe: "made") }
        return Descriptor(owning: number)
    }

    /// Opens an output that a person has named: a file, or a device such as /dev/stdout. A link is followed only if root or this
    /// user must have created it.
    func output(_ name: String, _ flags: Int32, mode: mode_t) throws(FileError) -> Descriptor {
        let flags = flags | O_WRONLY | O_CREAT | O_CLOEXEC
        var number = openat(descriptor.number, name, flags | O_NOFOLLOW, mode)
        if number < 0, errno == ELOOP {
            guard isOwnLink(name) else {
                throw FileError("\(full(name)) is a symbolic link of another user (name the file itself)")
            }
            number = openat(descriptor.number, name, flags, mode)
            guard number >= 0 else { throw FileError(full(name), cannotBe: "written") }
            return Descriptor(owning: number)
        }
        guard number >= 0 else { throw FileError(full(name), cannotBe: "written") }
        let file = Descriptor(owning: number)
        let status = try Self.status(file, full(name))
        if status.st_mode & S_IFMT == S_IFREG { try mustBeOwn(status, name) }
        return file
    }

    /// Of a link, its own status.
    private func status(of name: String) -> stat? {
        var status = stat()
        return owner.act { fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) } == 0 ? status : nil
    }

    /// Whether the name exists. A link counts itself.
    func has(_ name: String) -> Bool { status(of: name) != nil }

    func isSocket(_ name: String) -> Bool { status(of: name).map { $0.st_mode & S_IFMT == S_IFSOCK } ?? false }

    /// Identifies a file.
    func inode(of name: String) -> ino_t? { status(of: name)?.st_ino }

    /// Opens the folder itself, to lock it; the number is negative on failure.
    func openHere() -> Descriptor {
        Descriptor(owning: owner.act { openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    }

    /// The time of the last change, in seconds since 1970.
    func changed(_ name: String) -> Int? { status(of: name)?.st_mtim.tv_sec }

    /// Identifies a file's present content.
    func version(_ name: String) -> FileVersion? {
        guard let status = status(of: name) else { return nil }
        return FileVersion(
            number: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    func touch(_ name: String) { _ = owner.act { utimensat(descriptor.number, name, nil, AT_SYMLINK_NOFOLLOW) } }

    func remove(_ name: String) { _ = owner.act { unlinkat(descriptor.number, name, 0) } }

    /// Adds a second name to a file.
    func link(_ name: String, as other: String) -> Bool {
        owner.act { linkat(descriptor.number, name, descriptor.number, other, 0) } == 0
    }

    func rename(_ old: String, to new: String) throws(FileError) {
        guard owner.act({ renameat(descriptor.number, old, descriptor.number, new) }) == 0 else {
            throw FileError(full(new), cannotBe: "replaced")
        }
        let number = openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return }
        fsync(number)
        close(number)
    }

    /// The names in the folder.
    func names() -> [String] {
        let number = owner.act { openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard number >= 0 else { return [] }
        guard let stream = fdopendir(number) else {
            close(number)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { name in
                    String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    // MARK: details

    private func full(_ name: String) -> String { path == "/" ? "/\(name)" : "\(path)/\(name)" }

    private func mustBeOwn(_ status: stat, _ name: String) throws(FileError) {
        // no name at all: another process has just replaced the file
        guard status.st_nlink <= 1 else {
            throw FileError(
                "\(full(name)) has \(status.st_nlink) hard links, and another user may own one (replace it by a copy)"
            )
        }
        guard [owner.user, 0, geteuid()].contains(status.st_uid) else {
            throw FileError(
                "\(full(name)) belongs to user \(status.st_uid), not to the owner of its folder (chown it, or "
                    + "remove it)"
            )
        }
    }

    private func isOwnLink(_ name: String) -> Bool {
        var status = stat()
        guard fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        let own = [0, geteuid()]
        return own.contains(status.st_uid) && own.contains(owner.user) && (!isShared || isSticky)
    }

    /// The reason why an entry of a folder may belong to somebody else; nil if it may not.
    /// - Parameters:
    ///   - place: the folder's path; empty for the root.
    ///   - found: the status of the entry.
    private static func openness(of folder: stat, _ place: String, _ part: String, _ found: stat) -> String? {
        guard let (who, mode) = FolderWriters(folder).words else { return nil }
        guard folder.st_mode & S_ISVTX != 0 else {
            return "\(who) may replace \(part) (chmod \(mode) \(place.isEmpty ? "/" : place))"
        }
        // in a sticky folder, others cannot replace the entry, but they may have created it first
        guard found.st_uid != 0, found.st_uid != geteuid() else { return nil }
        return "user \(found.st_uid) created \(part) where \(who) may create folders (name another folder)"
    }

    private static func start(_ path: String) throws(FileError) -> Descriptor {
        let number = open(path.hasPrefix("/") ? "/" : ".", pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw failure(path, "entered") }
        return Descriptor(owning: number)
    }

    private static func status(_ file: borrowing Descriptor, _ path: String) throws(FileError) -> stat {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw FileError(path, cannotBe: "read") }
        return status
    }

    /// The components in reverse order.
    private static func parts(_ path: String) -> [String] { path.split(separator: "/").reversed().map(String.init) }

    private static func target(of link: borrowing Descriptor) -> String? {
        var buffer = [CChar](repeating: 0, count: longestLink)
        let count = readlinkat(link.number, "", &buffer, buffer.count)
        guard count > 0, count < longestLink else { return nil }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func failure(_ path: String, _ deed: String, _ code: Int32 = errno) -> FileError {
        FileError(path, cannotBe: deed, code, remedy: "set STATE_DIRECTORY to a folder that usher can write to")
    }
}
