internal import Formats
internal import HTTPCodec

/// What the shop's policies demand.
enum Protection: Sendable {
    case open
    /// A transaction for each access.
    case transaction
    /// A session that has passed `StepUp`.
    case upgrade
    /// `StepUp`, then a transaction for each access.
    case both

    /// The policy for a path; nil where there is none.
    init?(path: String) {
        // segments are compared decoded and without regard to case, as AM compares resource names
        let segments = path.split(separator: "/").map { ASCII.lowercased(PercentCoding.decode($0)) }
        guard segments.first == "shop" else { return nil }
        switch segments.dropFirst().first {
        case "open": self = .open
        case "upgrade": self = .upgrade
        case "both": self = .both
        default: self = .transaction
        }
    }
}

enum Decision: Sendable {
    /// With the transaction that was used up for it.
    case granted(Transaction?)
    case advice(CompositeAdvice)
}

extension SandboxServer {
    private static let steppedUp = Tree.stepUp

    /// Decides one access and keeps the books: a transaction that grants is used up, one that is missing is created.
    /// - Parameters:
    ///   - resource: the URL that the transaction is bound to, without `_txid`.
    ///   - method: nil where the asker does not name it.
    ///   - id: the transaction that was presented.
    mutating func decide(
        _ protection: Protection, resource: String, method: String?, session: Session, transaction id: String?,
        _ now: Int
    ) -> Decision {
        let steppedUp = session.services.contains(Self.steppedUp.name)
        if protection == .upgrade || protection == .both, !steppedUp {
            return .advice(CompositeAdvice(CompositeAdvice.service, "\(session.realm):\(Self.steppedUp.name)"))
        }
        guard protection == .transaction || protection == .both else { return .granted(nil) }
        if let id,
            let used = transactions.use(
                id, realm: session.realm, resource: resource, method: method, subject: session.trackingId, now: now)
        {
            return .granted(used)
        }
        let created = transactions.create(
            realm: session.realm, resource: resource, method: method, subject: session.trackingId, from: &tokens,
            now: now)
        return .advice(CompositeAdvice(CompositeAdvice.transaction, created.id))
    }
}

/// A resource's URL as policies compare it: scheme and host in lower case, the port always written, what a client hands
/// back for the gateway gone, the query kept or not.
enum ResourceName {
    /// What is the gateway's own in a query: the transaction, and the token that some clients send with it.
    private static let handedBack: Set<String> = ["_txid", "_idtoken"]

    static func normalized(_ head: RequestHead, keepsQuery: Bool) -> String {
        let target = head.target
        let host = head.host
        let authority = host.contains(":") ? "[\(host)]" : host
        let name = "\(target.scheme.name)://\(authority):\(target.port)\(head.path)"
        guard keepsQuery, let query = resourceQuery(head) else { return name }
        return "\(name)?\(query)"
    }

    /// The URL as the client wrote it, less what is the gateway's own; every other byte as it came.
    static func original(_ head: RequestHead) -> String {
        let origin = "\(head.target.scheme.name)://\(head.fields.text(head.target.authority))\(head.path)"
        return resourceQuery(head).map { "\(origin)?\($0)" } ?? origin
    }

    /// Nil where nothing is left.
    private static func resourceQuery(_ head: RequestHead) -> String? {
        var query = QueryText(head.query ?? "")
        query.removeAll(where: handedBack.contains)
        return query.text.isEmpty ? nil : query.text
    }
}
