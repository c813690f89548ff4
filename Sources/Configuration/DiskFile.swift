internal import Glibc

/// Files of this machine.
enum DiskFile {
    /// - Parameter limit: bytes; a larger file is not read.
    static func read(_ path: String, limit: Int) throws(FileFault) -> FileContent {
        // not blocking: opening a FIFO would wait for a writer that may never come
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw fault(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw fault(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fault(errno) }
            if count == 0 { break }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw .tooLarge }
        }
        return FileContent(bytes: bytes, isWorldReadable: status.st_mode & S_IROTH != 0)
    }

    private static func fault(_ number: Int32) -> FileFault {
        switch number {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .forbidden
        case EISDIR: .notAFile
        default: .system(number)
        }
    }
}
