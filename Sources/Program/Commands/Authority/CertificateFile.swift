import Glibc
import Operation

/// A certificate file for other programs to trust.
struct CertificateFile {
    let path: String
    private let isTemporary: Bool

    /// - Parameter path: the file to write, replacing an existing one. Nil creates a temporary file.
    /// - Throws: `FileError` with the path and the system's message.
    init(_ certificate: [UInt8], at path: String?) throws(FileError) {
        isTemporary = path == nil
        if let path { self.path = path } else { self.path = try Self.temporary() }
        // certificates are public, so every user may read the file
        try Output.write(certificate, to: self.path, isForAll: true)
    }

    func removeIfTemporary() {
        if isTemporary { unlink(path) }
    }

    private static func temporary() throws(FileError) -> String {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(folder)/usher-sandbox-XXXXXX.pem".utf8CString)
        let descriptor = mkstemps(&name, 4)
        let path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard descriptor >= 0 else {
            throw FileError("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        return path
    }
}
