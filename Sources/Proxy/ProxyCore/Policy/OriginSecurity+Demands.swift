internal import Addresses
public import TLSEngine

extension OriginSecurity {
    /// The configuration's demands on the origin. Its name may be only the client's claim, so verification is off only if it is
    /// also off for the connected host.
    public func demands(of origin: Origin) -> OriginDemands {
        guard let name = origin.serverName else { return demands(of: origin.host, port: origin.port) }
        var demands = demands(of: name, port: origin.port)
        guard !demands.verifies, demands.pins.isEmpty else { return demands }
        let own = self.demands(of: origin.host, port: origin.port)
        demands.verifies = own.verifies
        // without verification nothing proves the name, so the host's client certificate is used
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
    /// The connected server has proved that it is the host of that name.
    var provesName: Bool { verifies || !pins.isEmpty }
}
