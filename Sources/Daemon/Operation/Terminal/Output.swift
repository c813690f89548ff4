import EventLoop
import Glibc

/// Writes results to files or standard output.
public enum Output {
    public static var isTerminal: Bool { isatty(1) == 1 }

    /// Writes a file, or standard output if no path is given.
    /// - Parameter isForAll: true to make the file readable by all users, whatever the umask.
    public static func write(_ bytes: [UInt8], to path: String?, isForAll: Bool = false) throws(FileError) {
        try OutputFile(path, isForAll: isForAll).write(bytes)
    }

    /// Writes a file that does not exist yet.
    public static func create(_ bytes: [UInt8], at path: String) throws(FileError) {
        let place = FilePath(path)
        if let folder = try OpenFolder.at(place.folder), folder.has(place.name) {
            throw FileError("\(path) exists; name another file with --output, or move it away")
        }
        let file = try opened(path, O_EXCL, mode: 0o644)
        guard bytes.withUnsafeBytes({ DescriptorBytes.write($0, to: file) }) else {
            throw FileError(path, cannotBe: "written")
        }
    }

    /// Opens a file for appending. It stays open until the process ends.
    /// - Returns: the descriptor.
    public static func appending(to path: String) throws(FileError) -> Int32 {
        try opened(path, O_APPEND, mode: 0o600).release()
    }

    static func opened(_ path: String, _ flags: Int32, mode: mode_t) throws(FileError) -> Descriptor {
        let place = FilePath(path)
        guard let folder = try OpenFolder.at(place.folder) else {
            throw FileError(path, cannotBe: "written", ENOENT)
        }
        return try folder.output(place.name, flags, mode: mode)
    }
}
