public import TLSEngine

/// How far origins are trusted, and how Usher proves itself to them: `tls.upstream` and `tls.client_certificates`.
public struct OriginSecurity: Sendable {
    /// What the configuration says of some hosts alone. Of the rules that fit a host, each key's first counts.
    public struct HostRule: Sendable {
        public var host: DestinationPattern
        /// False: the origin's certificate is not verified at all.
        public var verifies: Bool?
        /// SHA-256 digests of public keys (SubjectPublicKeyInfo), one of which must be in the origin's chain (RFC 7469
        /// §2.4). Empty: any.
        public var pins: [[UInt8]] = []
        public var minimum: TLSVersion?

        public init(host: DestinationPattern) { self.host = host }
    }

    public struct ClientIdentity: Sendable {
        public var host: DestinationPattern
        public var identity: Identity

        public init(host: DestinationPattern, identity: Identity) {
            self.host = host
            self.identity = identity
        }
    }

    public var usesSystemTrust = true
    public var extraTrust: [Certificate] = []
    public var revocationLists: [RevocationList] = []
    public var minimum = TLSVersion.tls12
    public var rules: [HostRule] = []
    /// The first that fits a host is shown to it.
    public var identities: [ClientIdentity] = []

    public init() {}
}
