public import Addresses

/// `destinations:` of the configuration: where Usher may connect to. The most specific entry decides (`Specificity`); `deny` wins
/// a tie. A host without an entry is refused, and so is every address of a denied name.
public struct DestinationPolicy: Equatable, Sendable {
    /// The section of the configuration that holds the lists.
    public enum Section: Sendable {
        case destinations, `guard`

        var allow: String { self == .destinations ? "destinations.allow" : "guard.only" }
        var deny: String { self == .destinations ? "destinations.deny" : "guard.never" }
    }

    public struct Decision: Equatable, Sendable {
        public var isPermitted: Bool
        /// The entry that decided, for the log; nil if none matched.
        public var entry: DestinationPattern?
        /// The form of the address that decided, if it is another one.
        var form: Form?
        var section = Section.destinations

        struct Form: Equatable, Sendable {
            let outer: IPAddress
            let inner: IPAddress
        }

        /// One sentence for the log and the client's response.
        public var reason: String {
            switch (isPermitted, entry) {
            case (true, let entry?): "\(section.allow) holds \(entry)"
            case (true, nil): "left to the address that the name leads to"
            case (false, let entry?):
                "\(section.deny) holds \(entry)"
                    + (form.map { ", and \($0.outer) may lead to \($0.inner)" } ?? "")
            case (false, nil): "no entry of \(section.allow) fits"
            }
        }
    }

    public var allow: [DestinationPattern]
    public var deny: [DestinationPattern]
    public var section = Section.destinations
    /// Further policies, each of which has to permit a destination as well.
    public var others: [DestinationPolicy] = []

    public init(allow: [DestinationPattern], deny: [DestinationPattern]) {
        self.allow = allow
        self.deny = deny
    }

    /// The defaults: everything but link-local addresses and cloud metadata.
    public init() {
        self.init(
            allow: ["*"].compactMap { DestinationPattern($0) },
            deny: ["link-local", "metadata"].compactMap { DestinationPattern($0) })
    }

    /// Judges before resolution: it refuses a name that no address can make acceptable. A permission is not final, as the address
    /// is judged later.
    /// - Parameter host: a name or an address without brackets.
    public func permits(host: String, port: UInt16) -> Decision {
        let host = HostName.normalized(host)
        if let address = IPAddress(host) { return permits(host: host, port: port, address: address) }
        let allowed = Self.best(allow, host, port, nil)
        let denied = Self.best(deny, host, port, nil)
        if let allowed, denied.map({ $0.rank < allowed.rank }) ?? true {
            return Decision(isPermitted: true, entry: allowed.entry, section: section)
        }
        // `allow` may hold the address; a denied name stays refused, as its owner chooses the address
        let isOpen = denied == nil && !addresses(allow, port).isEmpty
        return Decision(isPermitted: isOpen, entry: denied?.entry, section: section)
    }

    private func addresses(_ entries: [DestinationPattern], _ port: UInt16) -> [DestinationPattern] {
        entries.filter { !$0.judgesName && ($0.port == nil || $0.port == port) }
    }

    /// The condition on the address of a host whose name `permits` allows; nil if there is none. It ignores the default entries
    /// of `deny`.
    public func question(of host: String, port: UInt16) -> String? {
        let host = HostName.normalized(host)
        let decision = permits(host: host, port: port)
        guard IPAddress(host) == nil, decision.isPermitted else { return nil }
        let rank = decision.entry?.rank(host: host, port: port, address: nil)
        guard let rank else {
            let hopes = addresses(allow, port).map(\.description)
            return "allowed where \(host) leads to an address in \(hopes.joined(separator: ", ")) (\(section.allow))"
        }
        let standard = DestinationPolicy().deny
        let doubts = addresses(deny, port).filter { entry in
            !standard.contains(entry) && entry.specificity.map { $0 >= rank } ?? false
        }
        guard !doubts.isEmpty else { return nil }
        let names = doubts.map(\.description).joined(separator: ", ")
        return "refused where \(host) leads to an address in \(names) (\(section.deny))"
    }

    /// Judges after resolution, for the address to connect to. It treats IPv4-mapped IPv6 as IPv4, and no other form of the
    /// address may be denied.
    public func permits(host: String, port: UInt16, address: IPAddress) -> Decision {
        let host = HostName.normalized(host)
        if IPAddress(host) == nil {
            let named = permits(host: host, port: port)
            guard named.isPermitted || named.entry == nil else { return named }
        }
        let forms = address.forms
        let decision = judge(host, port, forms[0], deny)
        guard decision.isPermitted else { return decision }
        // entries for names, `*` included, were already judged with the address itself
        let closed = forms.count > 1 ? deny.filter { !$0.judgesName } : []
        for inner in forms.dropFirst() {
            var other = judge(host, port, inner, closed)
            if other.isPermitted || other.entry == nil { continue }
            other.form = Decision.Form(outer: forms[0], inner: inner)
            return other
        }
        return decision
    }

    private func judge(
        _ host: String, _ port: UInt16, _ address: IPAddress, _ deny: [DestinationPattern]
    ) -> Decision {
        let allowed = Self.best(allow, host, port, address)
        let denied = Self.best(deny, host, port, address)
        if let allowed, denied.map({ $0.rank < allowed.rank }) ?? true {
            return Decision(isPermitted: true, entry: allowed.entry, section: section)
        }
        return Decision(isPermitted: false, entry: denied?.entry, section: section)
    }

    private static func best(
        _ entries: [DestinationPattern], _ host: String, _ port: UInt16, _ address: IPAddress?
    ) -> (entry: DestinationPattern, rank: Specificity)? {
        var best: (entry: DestinationPattern, rank: Specificity)?
        for entry in entries {
            guard let rank = entry.rank(host: host, port: port, address: address) else { continue }
            if best.map({ $0.rank < rank }) ?? true { best = (entry, rank) }
        }
        return best
    }
}
