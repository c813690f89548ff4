public import TLSEngine

/// The public part of the interception CA.
public struct AuthorityCertificates: Sendable {
    public let root: Certificate
    /// Newest first.
    public let crosses: [Certificate]
    /// Older roots that are still valid, newest first.
    public let retired: [Certificate]

    /// Every root that clients may meet, because a daemon may still use an older one.
    public var roots: [Certificate] { [root] + retired }

    /// Nil if there is no CA yet.
    /// - Throws: `FileError` if a file cannot be read or holds no certificates.
    init?(_ files: AuthorityFiles, now: Int) throws(FileError) {
        guard let root = try Self.read(files.certificate).first else { return nil }
        self.root = root
        crosses = try Self.read(files.crosses)
        retired = try Self.read(files.retired).filter { $0.notAfter > now }
    }

    /// Empty if there is no file.
    static func read(_ path: String) throws(FileError) -> [Certificate] {
        guard let bytes = try StateFile.read(path) else { return [] }
        do throws(MaterialFault) {
            return try Certificate.all(inPEM: bytes)
        } catch {
            throw FileError("\(path) \(error.words)")
        }
    }
}
