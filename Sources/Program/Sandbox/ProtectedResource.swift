internal import Formats
internal import HTTPCodec

/// The resource. It responds with the request that reached it.
struct ProtectedResource: Sendable {
    /// The count of requests that reached it. Each response shows its own number.
    private(set) var accesses = 0
    /// The count by user.
    private(set) var users: [String: Int] = [:]

    /// The page behind the gateway. The echo omits `_txid`, as the gateway removes it. The log shows the shortened id.
    mutating func show(
        _ request: SandboxRequest, _ session: Session?, _ transaction: Transaction?, note: String
    ) -> SandboxResponse {
        count(session?.user)
        var echo = request.echo(url: ResourceName.original(request.head))
        echo["user"] = session.map { .string($0.user) } ?? .null
        echo["realm"] = session.map { .string($0.realm) } ?? .null
        echo["access"] = .integer(accesses)
        echo["transactionUses"] = .integer(transaction?.uses ?? 0)
        return .json(200, echo, note: "access \(accesses): \(note)")
    }

    /// `/api/…`, which requires an access token and no session.
    ///
    /// `/api/scope/NAME/…` requires that scope, `/api/realm/NAME/…` a token of that realm; other paths require one of the root
    /// realm.
    mutating func answer(
        _ request: SandboxRequest, _ faults: Faults, _ oauth: inout AuthorizationServer, _ now: Int
    ) -> SandboxResponse {
        if faults.has(.expiredToken) { oauth.spoilToken(of: request, now) }
        let segments = request.segments.dropFirst()
        let value = segments.dropFirst().first ?? ""
        let grant: GrantTable.Grant
        do throws(OAuthRefusal) {
            grant = try oauth.grant(shownBy: request, realm: segments.first == "realm" ? "/" + value : "/", now)
        } catch {
            return error.response
        }
        if segments.first == "scope", !grant.scope.split(separator: " ").contains(where: { $0 == value }) {
            let challenge = "Bearer realm=\"\(grant.realm)\",error=\"insufficient_scope\",scope=\"\(value)\""
            return OAuthRefusal(
                403, "insufficient_scope", "The token lacks the scope \(value)",
                fields: FieldSyntax.isName(value) ? [("WWW-Authenticate", challenge)] : []
            ).response
        }
        count(grant.user)
        var echo = request.echo(url: request.head.url)
        echo["user"] = .optional(grant.user)
        echo["client"] = .string(grant.client)
        echo["realm"] = .string(grant.realm)
        echo["scope"] = .string(grant.scope)
        echo["bound"] = .bool(grant.key != nil)
        echo["access"] = .integer(accesses)
        return .json(200, echo, note: "access \(accesses): with a token of \(grant.user ?? grant.client)")
    }

    /// - Parameter user: nil without a user.
    private mutating func count(_ user: String?) {
        accesses += 1
        if let user { users[user, default: 0] += 1 }
    }
}
