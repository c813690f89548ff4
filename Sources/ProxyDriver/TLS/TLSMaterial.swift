internal import Addresses
internal import HTTPCodec
public import ProxyCore
public import TLSEngine

/// What a generation of the configuration has for TLS, built before it is put in force. Shared by all loops.
public struct TLSMaterial: Sendable {
    /// Towards origins.
    public var origins: OriginContext
    public var security: OriginSecurity
    /// Nil where nothing is opened and no listener speaks TLS by a certificate of the own authority.
    public var leaves: LeafStore?
    /// What listeners that speak TLS show; nil for a certificate by the own authority.
    public var listener: Identity?
    /// Names by which clients may ask for the proxy itself where its certificate is the own authority's, in lower case. Whoever
    /// asks for another is shown one for the address: nobody without a password has certificates made for hosts.
    public var listenerNames: Set<String> = ["localhost"]
    /// The same for the whole life of the process: 32 random bytes.
    public var ticketSeed: SecretBytes
    public var keyLog: KeyLog?

    public init(origins: OriginContext, security: OriginSecurity, ticketSeed: SecretBytes) {
        self.origins = origins
        self.security = security
        self.ticketSeed = ticketSeed
    }
}
