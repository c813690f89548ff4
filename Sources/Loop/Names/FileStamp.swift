internal import Glibc

/// Identifies a version of a file, to detect changes.
struct FileStamp: Equatable {
    private let device: UInt
    private let number: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil if there is no such file.
    init?(_ path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        device = UInt(found.st_dev)
        number = UInt(found.st_ino)
        size = Int(found.st_size)
        seconds = found.st_mtim.tv_sec
        nanoseconds = found.st_mtim.tv_nsec
    }
}
