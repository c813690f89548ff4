import EventLoop
import Glibc

/// A hold on a bundle for as long as a program may read it: a shared lock, which the system drops with the process.
final class BundleLock: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws(FileError) {
        guard let file = try StateFile.opened(path) else { throw FileError("\(path) is gone again") }
        guard flock(file.number, LOCK_SH | LOCK_NB) == 0 else { throw FileError(path, cannotBe: "held") }
        descriptor = file.release()
    }

    deinit { close(descriptor) }

    /// Some program holds it. One that is not there is in nobody's use.
    static func isInUse(_ path: String) -> Bool {
        guard let file = try? StateFile.opened(path) else { return false }
        return flock(file.number, LOCK_EX | LOCK_NB) != 0
    }
}
