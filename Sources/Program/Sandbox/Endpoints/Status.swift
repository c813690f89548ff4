internal import Formats

/// `GET /sandbox/status`: counters since the start.
extension SandboxServer {
    func status(_ request: SandboxRequest) -> SandboxResponse {
        guard request.reads else { return .methodNotAllowed("GET") }
        let sessions = am.store.sessions
        let transactions = am.store.transactions.tally
        let misuses = Transaction.Misuse.allCases.map { how in
            JSONValue.Member(how.rawValue, .integer(transactions.misuses[how] ?? 0))
        }
        let tokens = am.oauth.grants.tally
        let status: JSONValue = [
            "accesses": .integer(resource.accesses),
            "users": .object(resource.users.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) }),
            "sessions": ["created": .integer(sessions.created), "ended": .integer(sessions.ended)],
            "transactions": [
                "created": .integer(transactions.created), "begun": .integer(transactions.begun),
                "approved": .integer(transactions.approved), "refused": .integer(transactions.refused),
                "used": .integer(transactions.used), "misused": .object(misuses),
            ],
            "tokens": [
                "issued": .integer(tokens.issued), "refreshed": .integer(tokens.refreshed),
                "reused": .integer(tokens.reused), "revoked": .integer(tokens.revoked),
                "refusedProofs": .integer(am.oauth.proofs.refused),
            ],
        ]
        return .json(200, status, note: "counts")
    }
}
