import Glibc

/// Bytes for whoever asked for them.
public enum Output {
    public static var isTerminal: Bool { isatty(1) == 1 }

    /// Writes into a file, or to standard output where none is named.
    public static func write(_ bytes: [UInt8], to path: String?) throws(FileTrouble) {
        guard let path else { return Console.write(bytes) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw FileTrouble(path, cannotBe: "written") }
        defer { close(descriptor) }
        guard bytes.withUnsafeBytes({ StateFile.writeAll($0, to: descriptor) }) else {
            throw FileTrouble(path, cannotBe: "written")
        }
    }

    /// Opens a file that lines are added to; it stays open until the process ends.
    /// - Returns: the descriptor.
    public static func appending(to path: String) throws(FileTrouble) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileTrouble(path, cannotBe: "written") }
        return descriptor
    }
}
