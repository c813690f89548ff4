import Glibc
import TLSEngine

/// Files of the state directory: written whole or not at all.
enum StateFile {
    /// Bytes of one file; the bundles of some companies are large.
    private static let limit = 8 << 20

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Nil where there is none.
    static func read(_ path: String) throws(FileTrouble) -> [UInt8]? {
        guard let descriptor = try opened(path) else { return nil }
        defer { close(descriptor) }
        return try content(of: descriptor, path)
    }

    /// A file that holds a secret. Nil where there is none.
    /// - Throws: `FileTrouble` also where others than its owner may read it.
    static func readSecret(_ path: String) throws(FileTrouble) -> SecretBytes? {
        guard let descriptor = try opened(path) else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileTrouble(path, cannotBe: "read") }
        guard status.st_mode & 0o077 == 0 else {
            throw FileTrouble(
                "\(path) holds a private key and others than its owner may read it (chmod 600 \(path), and think about who may have read it)"
            )
        }
        var bytes = try content(of: descriptor, path)
        return SecretBytes(taking: &bytes)
    }

    /// Makes a file that is not there yet, on the disk before this returns.
    static func create(_ path: String, _ bytes: [UInt8], mode: mode_t = 0o644) throws(FileTrouble) {
        try create(path, mode: mode) { descriptor in bytes.withUnsafeBytes { writeAll($0, to: descriptor) } }
    }

    /// The same for what its owner alone may read.
    static func create(_ path: String, secret: SecretBytes) throws(FileTrouble) {
        try create(path, mode: 0o600) { descriptor in secret.withBytes { writeAll($0, to: descriptor) } }
    }

    private static func create(_ path: String, mode: mode_t, _ write: (Int32) -> Bool) throws(FileTrouble) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileTrouble(path, cannotBe: "made") }
        defer { close(descriptor) }
        adopt(descriptor, path)
        // the umask may have taken away what everybody is meant to have
        guard fchmod(descriptor, mode) == 0, write(descriptor), fsync(descriptor) == 0 else {
            let code = errno
            unlink(path)
            throw FileTrouble(path, cannotBe: "written", code)
        }
    }

    /// Puts a file in place of whatever has that name.
    static func replace(_ path: String, _ bytes: [UInt8]) throws(FileTrouble) {
        let new = "\(path).\(getpid()).new"
        unlink(new)
        try create(new, bytes)
        try rename(new, to: path)
    }

    static func rename(_ old: String, to new: String) throws(FileTrouble) {
        guard Glibc.rename(old, new) == 0 else { throw FileTrouble(new, cannotBe: "replaced") }
        let folder = open(parent(of: new), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Overwrites what a file holds, so that it is not left behind on the disk. Journals and flash memory may keep copies all
    /// the same.
    static func wipe(_ path: String) throws(FileTrouble) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw FileTrouble(path, cannotBe: "overwritten")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileTrouble(path, cannotBe: "overwritten") }
        let zeros = [UInt8](repeating: 0, count: Int(status.st_size))
        guard zeros.withUnsafeBytes({ writeAll($0, to: descriptor) }), fsync(descriptor) == 0 else {
            throw FileTrouble(path, cannotBe: "overwritten")
        }
    }

    /// Holds the lock of a folder while `body` runs, so that two processes do not change its files at once.
    /// - Parameter mayGoWithout: where the folder cannot be written to, nobody changes its files, and none is taken.
    static func locked<Result>(
        _ folder: StateDirectory, mayGoWithout: Bool, _ body: () throws(FileTrouble) -> Result
    ) throws(FileTrouble) -> Result {
        let path = folder.file("lock")
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if mayGoWithout { return try body() }
            throw FileTrouble(
                path, cannotBe: "written", remedy: "set STATE_DIRECTORY to a folder that usher may write to")
        }
        defer { close(descriptor) }
        adopt(descriptor, path)
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw FileTrouble(path, cannotBe: "locked") }
        }
        return try body()
    }

    // MARK: pieces

    /// What the administrator makes in the folder of a service belongs to the service.
    private static func adopt(_ descriptor: Int32, _ path: String) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard stat(parent(of: path), &status) == 0, status.st_uid != 0 else { return }
        fchown(descriptor, status.st_uid, status.st_gid)
    }

    private static func opened(_ path: String) throws(FileTrouble) -> Int32? {
        // not blocking: a FIFO would wait for somebody to write
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor >= 0 { return descriptor }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw FileTrouble(path, cannotBe: "read")
    }

    private static func content(of descriptor: Int32, _ path: String) throws(FileTrouble) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileTrouble(path, cannotBe: "read") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileTrouble("\(path) is no file") }
        guard status.st_size <= limit else { throw FileTrouble("\(path) is larger than \(limit) bytes") }
        // large enough from the start: an array that grows leaves a copy of the secret behind
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileTrouble(path, cannotBe: "read") }
            if count == 0 { break }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = write(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            return path.hasPrefix("/") ? "/" : "."
        }
        return String(path[..<slash])
    }
}
