internal import Glibc
public import TLSEngine

/// The CA of a sandbox over HTTPS. Its key exists only in this process.
public struct SandboxAuthority: Sendable {
    fileprivate let authority: CertificateAuthority

    /// - Throws: `MaterialFault` if no key can be made.
    public init() throws(MaterialFault) {
        authority = try .make(name: "Usher sandbox", constraints: nil, now: time(nil))
    }

    /// The certificate that clients have to trust, in PEM.
    public var certificate: [UInt8] { authority.certificate.pem }
}

/// The TLS state of the sandbox's loop.
final class SandboxSecurity {
    let buffers = TLSBuffers()
    private let authority: CertificateAuthority
    private let key: PrivateKey
    private let context: ServerContext
    /// The certificates by name. Any requested name is accepted.
    private var leaves: [String: Certificate] = [:]

    private static let maxLeaves = 1000

    init(_ authority: SandboxAuthority) throws(MaterialFault) {
        self.authority = authority.authority
        key = try .makeP256()
        let tickets = TicketKeys(seed: try SecretBytes(random: 32), now: time(nil))
        context = try ServerContext(key: key, chain: authority.authority.chain, tickets: tickets)
    }

    /// - Returns: nil if OpenSSL is out of memory or rejects the name.
    func stream(showing name: String) -> TLSStream? {
        guard let leaf = leaves[name] ?? (try? authority.leaf(for: name, key: key, now: time(nil))) else { return nil }
        if leaves.count == Self.maxLeaves { leaves.removeAll() }
        leaves[name] = leaf
        return try? context.stream(showing: leaf)
    }
}
