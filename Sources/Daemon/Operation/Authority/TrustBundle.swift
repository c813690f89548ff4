import Glibc
public import ProxyCore
import TLSEngine

/// Files of all certificates that a client of the proxy must trust: the system's roots, those of the configuration, and Usher's
/// own CA. Most programs take one file instead of the system's store, so it contains all of them. Files are named after their
/// content, so programs keep a valid file when another configuration asks for other roots.
public struct TrustBundle: Sendable {
    /// The path of the PEM file.
    public let pem: String
    /// The path of the Java key store.
    public let p12: String
    /// Prevents other processes from deleting the files.
    private let use: BundleLock

    /// The password of the PKCS #12 file. It protects nothing; Java requires one.
    public static let password = "usher"

    /// The prefix of the files' names.
    private static let stem = "ca-bundle"
    /// In seconds. A bundle that was not requested for this long is deleted, unless a command uses it.
    private static let age = 30 * 86_400
    /// The system's root files: Debian and Arch, Fedora, SUSE, Alpine, and OpenSSL's default.
    private static let systemBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem", "/usr/lib/ssl/cert.pem",
    ]

    /// Writes both files if they do not exist.
    /// - Parameters:
    ///   - authority: Usher's own roots.
    ///   - environment: may name another system bundle in SSL_CERT_FILE.
    ///   - now: in seconds since 1970; nil for the system's clock.
    public init(
        _ authority: AuthorityCertificates, origins: OriginSecurity, in folder: StateDirectory,
        environment: [String: String], now: Int? = nil
    ) throws(FileError) {
        try folder.mustKeepItsPlace()
        // included even if Usher does not trust them: clients verify tunnels that Usher does not decrypt
        var roots = authority.roots + origins.extraTrust
        roots += try Self.systemRoots(environment["SSL_CERT_FILE"], except: folder.file(Self.stem))
        var seen: Set<[UInt8]> = []
        roots = roots.filter { seen.insert($0.sha256).inserted }
        let content = roots.flatMap(\.pem)
        let name = "\(Self.stem)-\(Self.digest(content))"
        pem = folder.file("\(name).pem")
        p12 = folder.file("\(name).p12")
        let pem = pem
        let p12 = p12
        // two concurrent processes would delete each other's files
        use = try StateFile.locked(folder, mayGoWithout: false) { () throws(FileError) in
            try Self.discard(in: folder, before: (now ?? time(nil)) - Self.age, except: name)
            if try StateFile.read(pem) == content {
                try StateFile.touch(pem)
            } else {
                try StateFile.replace(pem, content)
            }
            if try StateFile.exists(p12) {
                try StateFile.touch(p12)
            } else {
                try StateFile.replace(p12, Self.store(roots, p12))
            }
            return try BundleLock(pem)
        }
    }

    private static func store(_ roots: [Certificate], _ path: String) throws(FileError) -> [UInt8] {
        do throws(MaterialFault) {
            return try PKCS12.trustStore(roots, password: password)
        } catch {
            throw FileError("\(path) cannot be created: \(error.words)")
        }
    }

    /// The first half of the SHA-256 in hexadecimal.
    private static func digest(_ bytes: [UInt8]) -> String {
        Digest.sha256(bytes).prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Deletes bundles that are old and unused.
    private static func discard(
        in folder: StateDirectory, before limit: Int, except current: String
    ) throws(FileError) {
        for name in try StateFile.names(in: folder) where name.hasPrefix(stem) && !name.hasPrefix(current) {
            guard name.hasSuffix(".pem") || name.hasSuffix(".p12"),
                let changed = try StateFile.changed(folder.file(name)), changed < limit,
                !BundleLock.isInUse(folder.file(String(name.dropLast(4)) + ".pem"))
            else { continue }
            try StateFile.remove(folder.file(name))
        }
    }

    /// Empty if the system has no such file.
    /// - Parameter own: the path prefix of Usher's own bundles, which are skipped.
    private static func systemRoots(_ named: String?, except own: String) throws(FileError) -> [Certificate] {
        for path in [named].compactMap({ $0 }) + systemBundles where !path.hasPrefix(own) {
            guard let bytes = try DescriptorBytes.read(public: path) else { continue }
            return certificates(bytes)
        }
        return []
    }

    /// Every readable certificate; a broken one does not invalidate the others.
    static func certificates(_ pem: [UInt8]) -> [Certificate] {
        if let all = try? Certificate.all(inPEM: pem) { return all }
        let end = "-----END CERTIFICATE-----"
        var found: [Certificate] = []
        var block = ""
        for line in String(decoding: pem, as: UTF8.self).split(whereSeparator: \.isNewline) {
            block += "\(line)\n"
            guard line.hasPrefix(end) else { continue }
            if let certificates = try? Certificate.all(inPEM: Array(block.utf8)) { found += certificates }
            block = ""
        }
        return found
    }
}
