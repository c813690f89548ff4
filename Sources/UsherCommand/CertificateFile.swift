import Glibc

/// A file that tells others whom to trust.
struct CertificateFile {
    struct Trouble: Error, CustomStringConvertible {
        let description: String
    }

    let path: String
    private let isTemporary: Bool

    /// - Parameter path: what is there is replaced. Nil: a new file among the temporary ones.
    /// - Throws: `Trouble` with the path and the system's words.
    init(_ certificate: [UInt8], at path: String?) throws(Trouble) {
        isTemporary = path == nil
        let descriptor: Int32
        if let path {
            self.path = path
            descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        } else {
            let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            var name = Array("\(folder)/usher-sandbox-XXXXXX.pem".utf8CString)
            descriptor = mkstemps(&name, 4)
            self.path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        guard descriptor >= 0 else { throw Self.trouble(self.path) }
        defer { close(descriptor) }
        guard certificate.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == certificate.count else {
            throw Self.trouble(self.path)
        }
        // a certificate is nobody's secret, whoever reads it
        fchmod(descriptor, 0o644)
    }

    func removeIfTemporary() {
        if isTemporary { unlink(path) }
    }

    private static func trouble(_ path: String) -> Trouble {
        Trouble(description: "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
