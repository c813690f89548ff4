internal import Glibc
public import TLSEngine

/// The authority of a sandbox over HTTPS. Its key lives in this process alone, and ends with it.
public struct SandboxAuthority: Sendable {
    fileprivate let authority: CertificateAuthority

    /// - Throws: `MaterialFault` where no key can be made.
    public init() throws(MaterialFault) {
        authority = try .make(name: "Usher sandbox", constraints: nil, now: time(nil))
    }

    /// What clients have to trust, in PEM.
    public var certificate: [UInt8] { authority.certificate.pem }
}

/// TLS as the sandbox's loop has it.
final class SandboxSecurity {
    let buffers = TLSBuffers()
    private let authority: CertificateAuthority
    private let key: PrivateKey
    private let context: ServerContext
    /// Every name that is asked for is the sandbox's.
    private var leaves: [String: Certificate] = [:]

    private static let maxLeaves = 1000

    init(_ authority: SandboxAuthority) throws(MaterialFault) {
        self.authority = authority.authority
        key = try .makeP256()
        let tickets = TicketKeys(seed: try SecretBytes(random: 32), now: time(nil))
        context = try ServerContext(key: key, chain: authority.authority.chain, tickets: tickets)
    }

    /// - Returns: nil where the library has no more memory, or takes the name for none.
    func stream(showing name: String) -> TLSStream? {
        guard let leaf = leaves[name] ?? (try? authority.leaf(for: name, key: key, now: time(nil))) else { return nil }
        if leaves.count == Self.maxLeaves { leaves.removeAll() }
        leaves[name] = leaf
        return try? context.stream(showing: leaf)
    }
}
