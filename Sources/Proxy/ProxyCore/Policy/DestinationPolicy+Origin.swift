public import Addresses

/// Judges one new connection, by any route.
extension DestinationPolicy {
    /// Judges before resolution. If another proxy resolves the name, this verdict is final.
    /// - Returns: the reason to refuse the connection; nil if there is none yet.
    public func refusal(of origin: Origin) -> String? {
        if let reason = others.lazy.compactMap({ $0.refusal(of: origin) }).first { return reason }
        guard !IPAddress.isLookalike(origin.host) else {
            return "the host is a number that some resolvers take for an address; addresses are written as 192.0.2.1"
        }
        let decision = permits(host: origin.host, port: origin.port)
        guard decision.isPermitted else { return decision.reason }
        guard origin.route != nil else { return nil }
        guard decision.entry != nil else {
            return "\(section.allow) names addresses alone, and the upstream proxy does not tell that of a name"
        }
        return nil
    }

    /// Judges after resolution, for the address to connect to: the origin's or the upstream proxy's. A configured proxy needs no
    /// entry of `allow`, but `deny` must not hold its address.
    public func refusal(of origin: Origin, at address: IPAddress) -> String? {
        if let reason = others.lazy.compactMap({ $0.refusal(of: origin, at: address) }).first { return reason }
        guard let proxy = origin.route?.proxy else {
            let decision = permits(host: origin.host, port: origin.port, address: address)
            return decision.isPermitted ? nil : decision.reason
        }
        var policy = DestinationPolicy(allow: allow + Self.everywhere, deny: deny)
        policy.section = section
        let decision = policy.permits(host: proxy.host, port: proxy.port, address: address)
        return decision.isPermitted ? nil : "for the upstream proxy \(proxy), \(decision.reason)"
    }

    public static let everywhere = ["*"].compactMap { DestinationPattern($0) }
}
