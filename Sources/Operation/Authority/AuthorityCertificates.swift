public import TLSEngine

/// What everybody may know of the interception CA.
public struct AuthorityCertificates: Sendable {
    public let root: Certificate
    /// The newest first.
    public let crosses: [Certificate]
    /// Roots before this one that are still valid, the newest first.
    public let retired: [Certificate]

    /// Every root that clients may meet: also a daemon that has not read its files again is to be trusted.
    public var roots: [Certificate] { [root] + retired }

    /// Nil where there is no CA yet.
    /// - Throws: `FileError` where a file cannot be read or holds no certificates.
    init?(_ files: AuthorityFiles, now: Int) throws(FileError) {
        guard let root = try Self.read(files.certificate).first else { return nil }
        self.root = root
        crosses = try Self.read(files.crosses)
        retired = try Self.read(files.retired).filter { $0.notAfter > now }
    }

    /// None where there is no file.
    static func read(_ path: String) throws(FileError) -> [Certificate] {
        guard let bytes = try StateFile.read(path) else { return [] }
        do throws(MaterialFault) {
            return try Certificate.all(inPEM: bytes)
        } catch {
            throw FileError("\(path) \(error.words)")
        }
    }
}
