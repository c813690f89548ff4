import Configuration
import TLSEngine

/// Certificates and keys that are made for one test, as files.
struct Material {
    /// When they are made, in seconds since 1970.
    static let now = 1_800_000_000
    static let year = 366 * 86_400

    let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority.make(name: "Staging", constraints: nil, now: Self.now)
    }

    var root: FileContent { FileContent(bytes: authority.certificate.pem) }
    var rootDER: FileContent { FileContent(bytes: authority.certificate.der) }
    var rootKey: FileContent { FileContent(bytes: Self.pem(authority.key)) }

    /// A certificate and its key, each a file.
    func leaf(_ host: String) throws -> (certificate: FileContent, key: FileContent) {
        let key = try PrivateKey.makeP256()
        let certificate = try authority.leaf(for: host, key: key, now: Self.now)
        return (FileContent(bytes: certificate.pem), FileContent(bytes: Self.pem(key)))
    }

    private static func pem(_ key: PrivateKey) -> [UInt8] { (try? key.pem().withBytes { Array($0) }) ?? [] }
}

func + (left: FileContent, right: FileContent) -> FileContent { FileContent(bytes: left.bytes + right.bytes) }
