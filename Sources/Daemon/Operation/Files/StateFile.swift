import EventLoop
import Glibc
import TLSEngine

/// Files of the state directory. They are written atomically, only in folders that nobody but the owner may change, and never
/// through a link.
enum StateFile {
    static func exists(_ path: String) throws(FileError) -> Bool {
        try within(path) { folder, name in folder.has(name) } ?? false
    }

    /// Nil if there is no file.
    static func read(_ path: String) throws(FileError) -> [UInt8]? {
        try within(path) { (folder, name) throws(FileError) -> [UInt8]? in
            guard let file = try folder.file(name, O_RDONLY, "read") else { return nil }
            return try DescriptorBytes.read(file, path)
        } ?? nil
    }

    /// Opens a file for reading. Nil if there is none.
    static func opened(_ path: String) throws(FileError) -> Descriptor? {
        try within(path) { (folder, name) throws(FileError) in try folder.file(name, O_RDONLY, "read") } ?? nil
    }

    /// The names in a folder; empty if it does not exist.
    static func names(in folder: StateDirectory) throws(FileError) -> [String] {
        try within(folder.file("")) { folder, _ in folder.names() } ?? []
    }

    /// The time of the last change or touch, in seconds since 1970. Nil if there is no file.
    static func changed(_ path: String) throws(FileError) -> Int? {
        try within(path) { folder, name in folder.changed(name) } ?? nil
    }

    /// Nil if there is no file.
    static func version(_ path: String) throws(FileError) -> FileVersion? {
        try within(path) { folder, name in folder.version(name) } ?? nil
    }

    /// Sets a file's time to now.
    static func touch(_ path: String) throws(FileError) {
        _ = try within(path) { folder, name in folder.touch(name) }
    }

    /// Reads a file with a secret. Nil if there is none.
    /// - Parameter content: describes the secret, `holds a private key`.
    /// - Throws: `FileError`, also if others than the owner may read the file.
    static func readSecret(
        _ path: String, _ content: String = "has a private key"
    ) throws(FileError) -> SecretBytes? {
        try within(path) { (folder, name) throws(FileError) -> SecretBytes? in
            guard let file = try folder.file(name, O_RDONLY, "read") else { return nil }
            var status = stat()
            guard fstat(file.number, &status) == 0 else { throw FileError(path, cannotBe: "read") }
            guard status.st_mode & 0o077 == 0 else {
                throw FileError(
                    "\(path) \(content), and users other than its owner can read it (chmod 600 \(path); it may "
                        + "have been read)"
                )
            }
            var bytes = try DescriptorBytes.read(file, path)
            return SecretBytes(taking: &bytes)
        } ?? nil
    }

    /// Creates a file that does not exist yet, and waits until it is on disk.
    static func create(_ path: String, _ bytes: [UInt8]) throws(FileError) {
        try create(path, mode: 0o644) { file in bytes.withUnsafeBytes { DescriptorBytes.write($0, to: file) } }
    }

    /// The same for a file that only its owner may read.
    static func create(_ path: String, secret: SecretBytes) throws(FileError) {
        try create(path, mode: 0o600) { file in secret.withBytes { DescriptorBytes.write($0, to: file) } }
    }

    private static func create(
        _ path: String, mode: mode_t, _ write: (borrowing Descriptor) -> Bool
    ) throws(FileError) {
        let made: Void? = try within(path) { (folder, name) throws(FileError) in
            let file = try folder.newFile(name, mode: mode)
            // the umask may have removed permissions
            guard fchmod(file.number, mode) == 0, write(file), fsync(file.number) == 0 else {
                let code = errno
                folder.remove(name)
                throw FileError(path, cannotBe: "written", code)
            }
        }
        if made == nil { throw FileError(path, cannotBe: "made", ENOENT) }
    }

    /// Replaces a file, whatever has its name.
    static func replace(_ path: String, _ bytes: [UInt8]) throws(FileError) {
        let new = "\(path).\(getpid()).new"
        try remove(new)
        try create(new, bytes)
        try rename(new, to: path)
    }

    /// The same for a file that only its owner may read.
    static func replace(_ path: String, secret: SecretBytes) throws(FileError) {
        let new = "\(path).\(getpid()).new"
        try remove(new)
        try create(new, secret: secret)
        try rename(new, to: path)
    }

    /// - Parameter new: a path in the same folder.
    static func rename(_ old: String, to new: String) throws(FileError) {
        _ = try within(old) { (folder, name) throws(FileError) in
            try folder.rename(name, to: FilePath(new).name)
        }
    }

    /// Removes a file if it exists.
    static func remove(_ path: String) throws(FileError) {
        _ = try within(path) { folder, name in folder.remove(name) }
    }

    /// Overwrites a file's content, so that it does not stay on the disk. Journaling and flash memory may still keep copies.
    static func wipe(_ path: String) throws(FileError) {
        _ = try within(path) { (folder, name) throws(FileError) in
            guard let file = try folder.file(name, O_WRONLY, "overwritten") else { return }
            var status = stat()
            guard fstat(file.number, &status) == 0 else { throw FileError(path, cannotBe: "overwritten") }
            let zeros = [UInt8](repeating: 0, count: Int(status.st_size))
            guard zeros.withUnsafeBytes({ DescriptorBytes.write($0, to: file) }), fsync(file.number) == 0 else {
                throw FileError(path, cannotBe: "overwritten")
            }
        }
    }

    /// Holds the folder's lock while `body` runs, so that two processes do not change its files at once.
    /// - Parameter mayGoWithout: true to run without the lock in a folder that is not writable, where no process changes files.
    static func locked<Result>(
        _ folder: StateDirectory, mayGoWithout: Bool, _ body: () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let path = folder.file("lock")
        let held = try within(path) { (folder, name) throws(FileError) -> Descriptor? in
            if mayGoWithout, !folder.isWritable { return nil }
            return try folder.file(name, O_RDWR | O_CREAT, "written", mode: 0o600)
        }
        guard let lock = held ?? nil else {
            if mayGoWithout { return try body() }
            throw FileError(
                path, cannotBe: "written", ENOENT, remedy: "set STATE_DIRECTORY to a folder that usher can write to")
        }
        while flock(lock.number, LOCK_EX) != 0 {
            guard errno == EINTR else { throw FileError(path, cannotBe: "locked") }
        }
        return try body()
    }

    /// Locks a file until the result is released. Nil if another process has the lock.
    static func hold(_ path: String) throws(FileError) -> Descriptor? {
        let file = try within(path) { (folder, name) throws(FileError) in
            try folder.file(name, O_RDWR | O_CREAT, "written", mode: 0o600)
        }
        guard let held = file ?? nil else { throw FileError(path, cannotBe: "made", ENOENT) }
        guard flock(held.number, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { return nil }
            throw FileError(path, cannotBe: "locked")
        }
        return held
    }

    /// Nil if the folder does not exist.
    private static func within<Result: ~Copyable>(
        _ path: String, _ body: (borrowing OpenFolder, String) throws(FileError) -> Result
    ) throws(FileError) -> Result? {
        let path = FilePath(path)
        guard let folder = try OpenFolder.at(path.folder) else { return nil }
        try folder.mustBePrivate()
        return try body(folder, path.name)
    }
}
