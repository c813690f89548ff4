internal import Glibc

/// Reads files of this machine.
enum DiskFile {
    /// - Parameter limit: the largest size in bytes. Larger files are refused.
    static func read(_ path: String, limit: Int) throws(FileFault) -> FileContent {
        // non-blocking, because opening a FIFO waits for a writer that may never come
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw fault(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw fault(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        // read into the final buffer: a growing one would leave copies of a key behind
        var failure: FileFault?
        let bytes = [UInt8](unsafeUninitializedCapacity: limit + 1) { buffer, filled in
            while filled < buffer.count {
                let count = Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = fault(errno) }
                if count <= 0 { break }
                filled += count
            }
        }
        if let failure { throw failure }
        guard bytes.count <= limit else { throw .tooLarge }
        return FileContent(bytes: bytes, isWorldReadable: status.st_mode & S_IROTH != 0)
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a folder, unordered and limited in number.
    static func names(in path: String) throws(FileFault) -> [String] {
        guard let folder = opendir(path) else { throw fault(errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < 100_000, let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
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
