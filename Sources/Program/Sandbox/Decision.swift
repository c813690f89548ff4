internal import HTTPCodec

enum Decision: Sendable {
    /// Granted, with the transaction that was used up.
    case granted(Transaction?)
    case advice(CompositeAdvice)
    /// Denied without an advice.
    case denied
}

extension Protection {
    /// Decides one access. A transaction that grants is used up; a missing one is created.
    /// - Parameters:
    /// - resource: the URL that the transaction is bound to, without `_txid`.
    /// - method: nil if the question names none.
    /// - id: the presented transaction.
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

/// A resource's URL as policies compare it: lower-case scheme and host, an explicit port, no gateway parameters.
enum ResourceName {
    /// The gateway's query parameters: the transaction, and the id token that some clients send with it.
    private static let handedBack: Set<String> = ["_txid", "_idtoken"]

    static func normalized(_ head: RequestHead) -> String {
        let target = head.target
        let host = head.host
        let authority = host.contains(":") ? "[\(host)]" : host
        let name = "\(target.scheme.name)://\(authority):\(target.port)\(head.path)"
        return resourceQuery(head).map { "\(name)?\($0)" } ?? name
    }

    /// The client's URL without the gateway's parameters; all other bytes unchanged.
    static func original(_ head: RequestHead) -> String {
        let origin = "\(head.target.scheme.name)://\(head.fields.text(head.target.authority))\(head.path)"
        return resourceQuery(head).map { "\(origin)?\($0)" } ?? origin
    }

    /// Nil if nothing is left.
    private static func resourceQuery(_ head: RequestHead) -> String? {
        var query = QueryText(head.query ?? "")
        query.removeAll(where: handedBack.contains)
        return query.text.isEmpty ? nil : query.text
    }
}
