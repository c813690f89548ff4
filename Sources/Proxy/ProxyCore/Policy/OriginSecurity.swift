public import TLSEngine

/// The trust in origins, and Usher's certificates for them: `tls.upstream` and `tls.client_certificates`.
public struct OriginSecurity: Sendable {
    /// Settings for some hosts. Among the rules that match a host, the first with a key decides that key.
    public struct HostRule: Sendable {
        public var host: DestinationPattern
        /// False: the origin's certificate is not verified.
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
    /// The client certificates; the first that matches a host is used.
    public var identities: [ClientIdentity] = []

    public init() {}
}
