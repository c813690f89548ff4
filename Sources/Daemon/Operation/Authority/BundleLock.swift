import EventLoop
import Glibc

/// Marks a bundle as used while a program may read it. It is a shared lock, which the system releases with the process.
final class BundleLock: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws(FileError) {
        guard let file = try StateFile.opened(path) else { throw FileError("\(path) was removed again") }
        guard flock(file.number, LOCK_SH | LOCK_NB) == 0 else { throw FileError(path, cannotBe: "held") }
        descriptor = file.release()
    }

    deinit { close(descriptor) }

    /// Whether a program uses the bundle. A missing bundle is unused.
    static func isInUse(_ path: String) -> Bool {
        guard let file = try? StateFile.opened(path) else { return false }
        return flock(file.number, LOCK_EX | LOCK_NB) != 0
    }
}
