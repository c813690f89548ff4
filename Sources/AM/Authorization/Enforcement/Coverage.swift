public import HTTPCodec
internal import Interception

extension AuthorizationPolicy {
    /// The policy's treatment of a request. It is a class because the usual result is nil, which is cheap to return.
    public final class Coverage: Sendable {
        public let resource: Resource
        /// True if the request needs AM's permission first. False if a Gateway enforces the policy, so advice may come.
        public let isEnforced: Bool

        init(_ resource: Resource, isEnforced: Bool) {
            self.resource = resource
            self.isEnforced = isEnforced
        }
    }

    /// The entry that covers a request; nil if there is none or it cannot apply.
    ///
    /// For advice, the path has to match in every reading of a server. For enforcement, any reading suffices; otherwise an
    /// unusual path would bypass the decision.
    /// - Parameter hasBody: true if a body follows, whatever the fields say.
    public func coverage(of head: RequestHead, hasBody: Bool = false) -> Coverage? {
        guard !resources.isEmpty else { return nil }
        let isRepeatable = Self.refusalOfKind(head) == nil
        let isDecidable = isDecidable(head, hasBody)
        guard isRepeatable || isDecidable else { return nil }
        let url = URLParts(head)
        // by index, to avoid copies of entries
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

    /// Whether some resource at this place needs a decision by AM. The proxy then has to see the requests there.
    /// - Parameter scheme: nil for any.
    public func enforces(_ scheme: Target.Scheme?, _ host: String, port: UInt16) -> Bool {
        enforcement != nil && resources.contains { $0.isEnforced && $0.pattern.mayCover(scheme, host, port: port) }
    }

    /// The same for any host at this port.
    public func enforces(port: UInt16) -> Bool {
        enforcement != nil && resources.contains { $0.isEnforced && $0.pattern.mayCover(port: port) }
    }

    /// Whether both ask the same AM in the same way.
    public func asks(like other: AuthorizationPolicy) -> Bool {
        server.url == other.server.url && enforcement == other.enforcement
    }

    /// Whether the request can be decided by AM. Preflights and CONNECT are excluded.
    private func isDecidable(_ head: RequestHead, _ hasBody: Bool) -> Bool {
        guard enforcement != nil, head.method != .connect else { return false }
        return hasBody || !Preflight.isOne(head)
    }

    /// True for AM's own endpoints, which AM protects itself. Only an unambiguous path counts as one.
    private func isServersOwn(_ head: RequestHead) -> Bool {
        guard isSurelyOwnEndpoint(head) else { return false }
        return server.paths.values.contains(head.path) || URLPlace(server.url)?.holds(head) == true
    }
}
