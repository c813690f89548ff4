public import Addresses
import HTTPCodec

/// The policy's judgement of one connection that is to be made, by whatever route.
extension DestinationPolicy {
    /// Before resolution. Where another proxy resolves the name, this is the last word on it.
    /// - Returns: why there will be no connection; nil where nothing speaks against it yet.
    public func refusal(of origin: Origin) -> String? {
        guard !IPAddress.isLookalike(origin.host) else {
            return "the host is a number that some resolvers take for an address; addresses are written as 192.0.2.1"
        }
        let decision = permits(host: origin.host, port: origin.port)
        guard decision.isPermitted else { return decision.reason }
        guard origin.route != nil else { return nil }
        guard decision.entry != nil else {
            return "destinations.allow names addresses alone, and the upstream proxy does not tell that of a name"
        }
        return nil
    }

    /// After resolution, for the very address that would be connected to: the origin's, or that of the proxy on the way.
    /// A proxy that the configuration names needs no entry of `allow`, but none of `deny` may hold its address.
    public func refusal(of origin: Origin, at address: IPAddress) -> String? {
        guard let proxy = origin.route?.proxy else {
            let decision = permits(host: origin.host, port: origin.port, address: address)
            return decision.isPermitted ? nil : decision.reason
        }
        let policy = DestinationPolicy(allow: allow + Self.everywhere, deny: deny)
        let decision = policy.permits(host: proxy.host, port: proxy.port, address: address)
        return decision.isPermitted ? nil : "for the upstream proxy \(proxy), \(decision.reason)"
    }

    private static let everywhere = ["*"].compactMap { DestinationPattern($0) }
}
