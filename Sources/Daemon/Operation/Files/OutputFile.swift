import EventLoop
import Glibc

/// An output file that is written in pieces, or standard output.
public final class OutputFile {
    private let path: String
    /// Nil for standard output.
    private let number: Int32?

    /// - Parameters:
    ///   - path: nil for standard output.
    ///   - isForAll: true to make the file readable by all users, whatever the umask.
    public init(_ path: String?, isForAll: Bool = false) throws(FileError) {
        self.path = path ?? ""
        guard let path else {
            number = nil
            return
        }
        let file = try Output.opened(path, 0, mode: 0o644)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw FileError(path, cannotBe: "written") }
        // only now, because the type of file is unknown before it is open
        if status.st_mode & S_IFMT == S_IFREG {
            guard !isForAll || fchmod(file.number, 0o644) == 0, ftruncate(file.number, 0) == 0 else {
                throw FileError(path, cannotBe: "written")
            }
        }
        number = file.release()
    }

    deinit { if let number { _ = Descriptor(owning: number) } }

    public func write(_ bytes: [UInt8]) throws(FileError) {
        guard let number else { return Console.write(bytes) }
        guard bytes.withUnsafeBytes({ DescriptorBytes.write($0, toDescriptor: number) }) else {
            throw FileError(path, cannotBe: "written")
        }
    }
}
