import EventLoop
import Glibc

/// A file that is written anew, in pieces, or standard output.
public final class OutputFile {
    private let path: String
    /// Nil for standard output.
    private let number: Int32?

    /// - Parameters:
    ///   - path: nil for standard output.
    ///   - isForAll: everybody may read the file, whatever the umask says.
    public init(_ path: String?, isForAll: Bool = false) throws(FileError) {
        self.path = path ?? ""
        guard let path else {
            number = nil
            return
        }
        let file = try Output.opened(path, 0, mode: 0o644)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw FileError(path, cannotBe: "written") }
        // only now: what is there was not known before it was open
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
