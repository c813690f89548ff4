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

extension OriginSecurity {
    /// What the configuration demands of that origin. Its name may be the client's word alone: that nothing is verified there
    /// counts only where the configuration says the same of the host that is connected to.
    func demands(of origin: Origin) -> OriginDemands {
        guard let name = origin.serverName else { return demands(of: origin.host, port: origin.port) }
        var demands = demands(of: name, port: origin.port)
        guard !demands.verifies, demands.pins.isEmpty else { return demands }
        let own = self.demands(of: origin.host, port: origin.port)
        demands.verifies = own.verifies
        // nobody will have proved that name: what is shown is meant for the host
        if !demands.verifies { demands.identity = own.identity }
        return demands
    }

    private func demands(of host: String, port: UInt16) -> OriginDemands {
        let address = IPAddress(host)
        func fits(_ pattern: DestinationPattern) -> Bool {
            pattern.covers(host, port: port, address: address)
        }
        var demands = OriginDemands()
        let rules = rules.filter { fits($0.host) }
        demands.verifies = rules.lazy.compactMap(\.verifies).first ?? true
        demands.pins = rules.first { !$0.pins.isEmpty }?.pins ?? []
        demands.minimum = rules.lazy.compactMap(\.minimum).first
        demands.identity = identities.first { fits($0.host) }?.identity
        return demands
    }
}
