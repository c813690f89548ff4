public import HTTPCodec

/// The policy's judgement of one connection that is to be made, by whatever route.
extension DestinationPolicy {
    /// Before resolution. Where another proxy resolves the name, this is the last word on it.
    /// - Returns: why there will be no connection; nil where nothing speaks against it yet.
    public func refusal(of origin: Origin) -> String? {
        let decision = permits(host: origin.host, port: origin.port)
        guard decision.isPermitted else { return decision.reason }
        guard origin.route != nil else { return nil }
        guard decision.entry != nil else {
            return "destinations.allow names addresses alone, and the upstream proxy does not tell that of a name"
        }
        guard !Self.mayBecomeAddress(origin.host) else {
            return "the host is a number that the upstream proxy might take for any address"
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

    /// Whether a host that is no address here is one for lax resolvers: `2130706433`, `0x7f.1`, `127.1`.
    private static func mayBecomeAddress(_ host: String) -> Bool {
        guard IPAddress(host) == nil,
            let last = host.utf8.split(separator: 0x2E).last.map(Array.init)
        else { return false }
        if last.allSatisfy(ASCII.isDigit) { return true }
        return last.count >= 2 && last[0] == 0x30 && last[1] | 0x20 == 0x78
            && last.dropFirst(2).allSatisfy { ASCII.hexValue($0) != nil }
    }
}
