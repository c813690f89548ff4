internal import Formats
internal import HTTPCodec

enum Decision: Sendable {
    /// With the transaction that was used up for it.
    case granted(Transaction?)
    case advice(CompositeAdvice)
    /// No advice helps.
    case denied
}

extension Protection {
    /// Decides one access and keeps the books: a transaction that grants is used up, one that is missing is created.
    /// - Parameters:
    ///   - resource: the URL that the transaction is bound to, without `_txid`.
    ///   - method: nil where the asker does not name it.
    ///   - id: the transaction that was presented.
    func decide(
        resource: String, method: String?, session: Session, transaction id: String?, _ store: inout CoreTokenStore,
        _ now: Int
    ) -> Decision {
        guard method.map(allows) ?? (methods?.isEmpty != true) else { return .denied }
        for condition in conditions {
            switch condition {
            case .passed(let advice, let tree) where !session.services.contains(tree):
                return .advice(CompositeAdvice(advice, "\(session.realm):\(tree)"))
            case .level(let level) where session.level < level:
                return .advice(CompositeAdvice(CompositeAdvice.level, String(level)))
            case .realm(let realm) where session.realm != realm:
                return .advice(CompositeAdvice(CompositeAdvice.realm, realm))
            case .fresh(let seconds) where session.created + seconds <= now:
                return .advice(CompositeAdvice(CompositeAdvice.force, "true"))
            case .transaction(let strategy):
                if let id,
                    let used = store.transactions.use(
                        id, realm: session.realm, resource: resource, method: method, subject: session.trackingId,
                        now: now)
                {
                    return .granted(used)
                }
                let created = store.transactions.create(
                    realm: session.realm, resource: resource, method: method, subject: session.trackingId,
                    strategy: strategy, from: &store.ids, now: now)
                return .advice(CompositeAdvice(CompositeAdvice.transaction, created.id))
            default: continue
            }
        }
        return .granted(nil)
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
