import EventLoop
import Glibc

/// Reads and writes whole contents of a descriptor.
enum DescriptorBytes {
    /// The largest file in bytes. Some companies have large bundles.
    static let limit = 8 << 20

    /// Reads a file from its beginning.
    static func read(
        _ file: borrowing Descriptor, _ path: String, limit: Int = Self.limit
    ) throws(FileError) -> [UInt8] {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw FileError(path, cannotBe: "read") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError("\(path) is not a file") }
        guard status.st_size <= limit else { throw FileError("\(path) is larger than \(limit) bytes") }
        // allocated at full size: a growing array would leave copies of a secret behind
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(file.number, $0.baseAddress?.advanced(by: filled), $0.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError(path, cannotBe: "read") }
            if count == 0 { break }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    /// Reads a public file, following links. Nil if there is none.
    static func read(public path: String) throws(FileError) -> [UInt8]? {
        // non-blocking, because opening a FIFO waits for a writer
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileError(path, cannotBe: "read")
        }
        return try read(Descriptor(owning: number), path)
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to file: borrowing Descriptor) -> Bool {
        write(bytes, toDescriptor: file.number)
    }

    static func write(_ bytes: UnsafeRawBufferPointer, toDescriptor number: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = Glibc.write(number, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
