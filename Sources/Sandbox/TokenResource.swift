internal import Formats
internal import HTTPCodec

/// `/api/…`: a resource that wants an access token, and no session. It says what reached it.
///
/// `/api/scope/NAME/…` wants that scope, `/api/realm/NAME/…` a token of that realm; all else one of the root realm.
extension SandboxServer {
    mutating func tokenResource(_ request: SandboxRequest, _ faults: Faults, _ now: Int) -> SandboxResponse {
        if faults.has(.expiredToken), let token = request.authorization("DPoP") ?? request.authorization("Bearer") {
            grants.spoil(token, now: now)
        }
        let segments = request.segments.dropFirst()
        let value = segments.dropFirst().first ?? ""
        switch tokenGrant(request, realm: segments.first == "realm" ? "/" + value : "/", now) {
        case .failure(let refusal): return refusal.response
        case .success(let grant):
            if segments.first == "scope", !grant.scope.split(separator: " ").contains(where: { $0 == value }) {
                var response = oauthFault(403, "insufficient_scope", "The token has not the scope \(value)")
                let challenge = "Bearer realm=\"\(grant.realm)\",error=\"insufficient_scope\",scope=\"\(value)\""
                if FieldSyntax.isName(value) { response.fields.append(("WWW-Authenticate", challenge)) }
                return response
            }
            count(grant.user)
            var echo = Self.echo(request, url: request.head.url)
            echo["user"] = grant.user.map { .string($0) } ?? .null
            echo["client"] = .string(grant.client)
            echo["realm"] = .string(grant.realm)
            echo["scope"] = .string(grant.scope)
            echo["bound"] = .bool(grant.key != nil)
            echo["access"] = .integer(accesses)
            return .json(200, echo, note: "access \(accesses): with a token of \(grant.user ?? grant.client)")
        }
    }
}
