public import HTTPCodec
internal import Interception

extension AuthorizationPolicy {
    /// What the policy means for a request. An object: whoever asks mostly learns that it means nothing.
    public final class Coverage: Sendable {
        public let resource: Resource
        /// The request goes out only where AM has allowed it. Otherwise somebody else sees to that, and advice may come.
        public let isEnforced: Bool

        init(_ resource: Resource, isEnforced: Bool) {
            self.resource = resource
            self.isEnforced = isEnforced
        }
    }

    /// The entry that covers a request; nil where none does, or it is none that anything could be done about.
    ///
    /// An advice is acted on where the path fits however a server reads it; a decision is asked for where it fits in any
    /// reading, or what is odd would pass unasked.
    /// - Parameter hasBody: one comes, whatever its fields say.
    public func coverage(of head: RequestHead, hasBody: Bool = false) -> Coverage? {
        guard !resources.isEmpty else { return nil }
        let isRepeatable = Self.refusalOfKind(head) == nil
        let isDecidable = isDecidable(head, hasBody)
        guard isRepeatable || isDecidable else { return nil }
        let url = URLParts(head)
        // by their places: none is copied that is looked at alone
        for place in resources.indices {
            if resources[place].isEnforced {
                guard resources[place].pattern.mayMatch(url) else { continue }
                return isDecidable && !isServersOwn(head) ? Coverage(resources[place], isEnforced: true) : nil
            }
            guard resources[place].pattern.matches(url) else { continue }
            return isRepeatable && !isOwnEndpoint(head) ? Coverage(resources[place], isEnforced: false) : nil
        }
        return nil
    }

    /// AM has to be asked about some of what may be at that place, so that nothing goes there that nobody looks at.
    /// - Parameter scheme: nil for any.
    public func enforces(_ scheme: Target.Scheme?, _ host: String, port: UInt16) -> Bool {
        enforcement != nil && resources.contains { $0.isEnforced && $0.pattern.mayCover(scheme, host, port: port) }
    }

    /// The same of what may be at that port, whatever its host is called.
    public func enforces(port: UInt16) -> Bool {
        enforcement != nil && resources.contains { $0.isEnforced && $0.pattern.mayCover(port: port) }
    }

    /// Both ask the same AM in the same way.
    public func asks(like other: AuthorizationPolicy) -> Bool {
        server.url == other.server.url && enforcement == other.enforcement
    }

    /// AM may be asked about it. A preflight is not; a tunnel is not opened for this.
    private func isDecidable(_ head: RequestHead, _ hasBody: Bool) -> Bool {
        guard enforcement != nil, head.method != .connect else { return false }
        return hasBody || !Preflight.isOne(head)
    }

    /// AM guards its own endpoints itself. Nothing else is taken for one, however it is written.
    private func isServersOwn(_ head: RequestHead) -> Bool {
        guard isSurelyOwnEndpoint(head) else { return false }
        return server.paths.values.contains(head.path) || URLPlace(server.url)?.holds(head) == true
    }
}
