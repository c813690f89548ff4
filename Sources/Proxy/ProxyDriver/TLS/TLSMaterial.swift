public import ProxyCore
public import TLSEngine

/// The TLS material of one generation of the configuration, built before it becomes active and shared by all loops.
public struct TLSMaterial: Sendable {
    /// The context for origins.
    public var origins: OriginContext
    public var security: OriginSecurity
    /// Nil if nothing is intercepted and no TLS listener uses the own CA.
    public var leaves: LeafStore?
    /// The certificate of TLS listeners; nil for one of the own CA.
    public var listener: Identity?
    /// The names of the proxy itself for which its CA creates certificates, in lower case. For other names, clients see the
    /// certificate of the address. So unauthenticated clients cannot request certificates for hosts.
    public var listenerNames: Set<String> = ["localhost"]
    /// 32 random bytes, constant during the life of the process.
    public var ticketSeed: SecretBytes
    public var keyLog: KeyLog?

    public init(origins: OriginContext, security: OriginSecurity, ticketSeed: SecretBytes) {
        self.origins = origins
        self.security = security
        self.ticketSeed = ticketSeed
    }
}
