import Glibc

@testable import TLSEngine

/// An authority, and contexts on both sides that know it. Made by the machine's clock, by which OpenSSL verifies.
struct World {
    let authority: CertificateAuthority
    let key: PrivateKey
    /// For `a.test`. A session is good for the certificate that it began with alone.
    let leaf: Certificate
    let seed: SecretBytes
    let began: Int
    let tickets: TicketKeys
    let clients: ServerContext
    let origins: OriginContext

    init(trusting: Bool = true) throws {
        began = time(nil)
        authority = try .make(name: "Test CA", constraints: nil, now: began)
        key = try .makeP256()
        leaf = try authority.leaf(for: "a.test", key: key, now: began)
        seed = try SecretBytes(random: 32)
        tickets = TicketKeys(seed: seed, now: began)
        clients = try ServerContext(key: key, chain: authority.chain, tickets: tickets)
        origins = try OriginContext(
            usesSystemTrust: false, extraTrust: trusting ? [authority.certificate] : [], revocationLists: [],
            minimum: .tls12)
    }

    /// The same with other tickets.
    init(_ other: World, tickets: TicketKeys) throws {
        began = other.began
        authority = other.authority
        key = other.key
        leaf = other.leaf
        seed = other.seed
        self.tickets = tickets
        clients = try ServerContext(key: key, chain: authority.chain, tickets: tickets)
        origins = other.origins
    }

    /// - Parameters:
    ///   - name: whom the server's certificate is for.
    ///   - asking: whom the client wants; nil for the same.
    ///   - made: when the certificate was made, Unix seconds.
    func conversation(
        showing name: String = "a.test", asking: String? = nil, made: Int? = nil, session: TLSSession? = nil,
        _ demands: OriginDemands = OriginDemands()
    ) throws -> Conversation {
        let isUsual = made == nil && name == "a.test"
        let shown = isUsual ? leaf : try authority.leaf(for: name, key: key, now: made ?? began)
        return Conversation(
            client: try origins.stream(to: asking ?? name, demands, session: session),
            server: try clients.stream(showing: shown))
    }
}
