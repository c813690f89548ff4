import EventLoop
import Glibc
public import ProxyCore
import TLSEngine

/// Files of everybody whom a client behind the proxy has to trust: the system's roots, those of the configuration, and
/// Usher's own CA. Most programs take one file in place of the system's store, so it holds all of them. Each content has
/// files of its own: whoever was told of some goes on with them whatever another configuration asks for.
public struct TrustBundle: Sendable {
    /// The path of the bundle in PEM.
    public let pem: String
    /// The path of the same as a store of Java's.
    public let p12: String
    /// As long as it is there, nobody takes the files away.
    private let use: BundleLock

    /// Of the PKCS #12 file. It keeps nothing secret: Java wants one.
    public static let password = "usher"

    /// How the names of bundles begin.
    private static let stem = "ca-bundle"
    /// Seconds after which a bundle that nobody asked for again goes, unless a command still runs with it.
    private static let age = 30 * 86_400
    /// Where distributions keep their roots in one file: Debian and Arch, Fedora, SUSE, Alpine, and OpenSSL's own.
    private static let systemBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem", "/usr/lib/ssl/cert.pem",
    ]

    /// Writes both files, where they are not there yet.
    /// - Parameters:
    ///   - authority: Usher's own roots.
    ///   - environment: where SSL_CERT_FILE may name another bundle than the system's.
    ///   - now: seconds since 1970; nil for the system's clock.
    public init(
        _ authority: AuthorityCertificates, origins: OriginSecurity, in folder: StateDirectory,
        environment: [String: String], now: Int? = nil
    ) throws(FileError) {
        try folder.mustKeepItsPlace()
        // also where Usher itself does not trust the system's: what it does not open, clients verify by themselves
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
        // two that clean and write at once would take each other's away
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
            throw FileError("\(path) cannot be made: \(error.words)")
        }
    }

    /// The first half of the SHA-256, in hexadecimal digits.
    private static func digest(_ bytes: [UInt8]) -> String {
        Digest.sha256(bytes).prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Takes away what nobody has asked for since then, and no command runs with.
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

    /// None where the system has no such file.
    /// - Parameter own: how the paths of bundles begin that Usher itself made.
    private static func systemRoots(_ named: String?, except own: String) throws(FileError) -> [Certificate] {
        for path in [named].compactMap({ $0 }) + systemBundles where !path.hasPrefix(own) {
            guard let bytes = try DescriptorBytes.read(public: path) else { continue }
            return certificates(bytes)
        }
        return []
    }

    /// Every certificate that can be read: one that is broken is no reason to trust none.
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
