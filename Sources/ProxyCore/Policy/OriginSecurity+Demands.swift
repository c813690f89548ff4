internal import Addresses
public import TLSEngine

extension OriginSecurity {
    /// What the configuration demands of that origin. Its name may be the client's word alone: that nothing is verified there
    /// counts only where the configuration says the same of the host that is connected to.
    public func demands(of origin: Origin) -> OriginDemands {
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

extension OriginDemands {
    /// Whoever is connected to has shown that it is the host of that name.
    var provesName: Bool { verifies || !pins.isEmpty }
}
