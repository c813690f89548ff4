public import ProxyCore
import TLSEngine

/// Files of everybody whom a client behind the proxy has to trust: the system's roots, those of the configuration, and
/// Usher's own CA. Most programs take one file in place of the system's store, so it holds all of them.
public struct TrustBundle: Sendable {
    /// The path of the bundle in PEM.
    public let pem: String
    /// The path of the same as a store of Java's.
    public let p12: String

    /// Of the PKCS #12 file. It keeps nothing secret: Java wants one.
    public static let password = "usher"

    /// Where distributions keep their roots in one file: Debian and Arch, Fedora, SUSE, Alpine, and OpenSSL's own.
    private static let systemBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem", "/usr/lib/ssl/cert.pem",
    ]

    /// Writes both files.
    /// - Parameters:
    ///   - authority: Usher's own roots.
    ///   - environment: where SSL_CERT_FILE may name another bundle than the system's.
    public init(
        _ authority: AuthorityCertificates, origins: OriginSecurity, in folder: StateDirectory,
        environment: [String: String]
    ) throws(FileTrouble) {
        pem = folder.file("ca-bundle.pem")
        p12 = folder.file("ca-bundle.p12")
        // also where Usher itself does not trust the system's: what it does not open, clients verify by themselves
        var roots = authority.roots + origins.extraTrust
        roots += try Self.systemRoots(environment["SSL_CERT_FILE"], except: pem)
        var seen: Set<[UInt8]> = []
        roots = roots.filter { seen.insert($0.sha256).inserted }
        try StateFile.replace(pem, roots.flatMap(\.pem))
        let store: [UInt8]
        do throws(MaterialFault) {
            store = try PKCS12.trustStore(roots, password: Self.password)
        } catch {
            throw FileTrouble("\(p12) cannot be made: \(error.words)")
        }
        try StateFile.replace(p12, store)
    }

    /// None where the system has no such file.
    private static func systemRoots(_ named: String?, except own: String) throws(FileTrouble) -> [Certificate] {
        for path in [named].compactMap({ $0 }) + systemBundles where path != own {
            guard let bytes = try StateFile.read(path) else { continue }
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
