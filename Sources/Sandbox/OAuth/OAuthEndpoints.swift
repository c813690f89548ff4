internal import Formats
internal import HTTPCodec

/// `oauth2/…`: which endpoint, and those that take tokens.
extension SandboxServer {
    mutating func oauth(_ request: SandboxRequest, _ route: RealmRoute, _ now: Int) -> SandboxResponse {
        switch route.rest {
        case ["authorize"]: authorize(request, realm: route.realm, now)
        case ["access_token"]: issueToken(request, realm: route.realm, now)
        case ["token", "revoke"]: revokeToken(request, now)
        case ["introspect"]: introspect(request, realm: route.realm, now)
        case ["userinfo"]: userInfo(request, realm: route.realm, now)
        case ["connect", "endSession"]: endSession(request, now)
        case [".well-known", "openid-configuration"]: openIDConfiguration(request, realm: route.realm)
        default: .fault(404, "Resource '\(request.head.path)' not found", note: "no such endpoint")
        }
    }

    /// `http://host/am/oauth2/realms/root/realms/alpha`
    func issuer(_ request: SandboxRequest, realm: String) -> String {
        "\(amURL(request))/oauth2\(RealmRoute.path(realm))"
    }

    /// `{"error":…,"error_description":…}` (RFC 6749 §5.2).
    func oauthFault(_ status: Int, _ error: String, _ description: String) -> SandboxResponse {
        .json(
            status, .record(["error": .string(error), "error_description": .string(description)]),
            note: "\(error): \(description)")
    }

    /// The client that a form names and, where it has a secret, proves to be: by Basic or in the form.
    func client(of request: SandboxRequest) -> Result<Directory.Client, OAuthRefusal> {
        var id = request.form["client_id"]
        var secret = request.form["client_secret"]
        let basic = request.authorization("Basic")
        if let basic {
            let pair = Base64.decode(basic).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let halves = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            id = halves.first.map { PercentCoding.decode($0, plusAsSpace: true) }
            secret = halves.count == 2 ? PercentCoding.decode(halves[1], plusAsSpace: true) : nil
        }
        guard let client = Directory.clients.first(where: { $0.id == id }),
            client.secret == nil || client.secret == secret
        else {
            var response = oauthFault(basic == nil ? 400 : 401, "invalid_client", "Client authentication failed")
            if basic != nil { response.fields.append(("WWW-Authenticate", "Basic realm=\"/\"")) }
            return .failure(OAuthRefusal(response: response))
        }
        return .success(client)
    }

    private mutating func revokeToken(_ request: SandboxRequest, _ now: Int) -> SandboxResponse {
        guard request.head.method == .post else { return .methodNotAllowed("POST") }
        guard let token = request.form["token"], !token.isEmpty else {
            return oauthFault(400, "invalid_request", "Missing parameter: token")
        }
        switch client(of: request) {
        case .failure(let refusal): return refusal.response
        case .success(let client):
            grants.revoke(token, client: client.id, now: now)
            return .json(200, .object([]), note: "token revoked")
        }
    }

    /// What a token is worth (RFC 7662), told to clients that have a secret.
    private func introspect(_ request: SandboxRequest, realm: String, _ now: Int) -> SandboxResponse {
        guard request.head.method == .post || request.reads else { return .methodNotAllowed("GET, POST") }
        guard case .success(let client) = client(of: request), client.secret != nil else {
            var response = oauthFault(401, "invalid_client", "Client authentication failed")
            response.fields.append(("WWW-Authenticate", "Basic realm=\"/\""))
            return response
        }
        guard let token = request.form["token"] ?? request.query["token"] else {
            return oauthFault(400, "invalid_request", "Missing parameter: token")
        }
        let access = grants.grant(token, now: now)
        guard let grant = access ?? grants.refreshGrant(token, now: now), grant.realm == realm else {
            return .json(200, .record(["active": .bool(false)]), note: "told that a token is worth nothing")
        }
        var answer = JSONValue.record([
            "active": .bool(true), "scope": .string(grant.scope), "realm": .string(realm),
            "client_id": .string(grant.client), "iss": .string(issuer(request, realm: realm)),
            "token_type": .string(access == nil ? "refresh_token" : grant.key == nil ? "Bearer" : "DPoP"),
        ])
        if let user = grant.user {
            answer["user_id"] = .string(user)
            answer["username"] = .string(user)
            answer["sub"] = .string(user)
        }
        if access != nil {
            answer["exp"] = .integer(grant.issued + grants.accessLife)
            answer["expires_in"] = .integer(max(0, grant.issued + grants.accessLife - now))
        }
        if let key = grant.key { answer["cnf"] = .record(["jkt": .string(key)]) }
        return .json(200, answer, note: "told about a token of \(grant.user ?? grant.client)")
    }

    private mutating func userInfo(_ request: SandboxRequest, realm: String, _ now: Int) -> SandboxResponse {
        guard request.reads || request.head.method == .post else { return .methodNotAllowed("GET, POST") }
        switch tokenGrant(request, realm: realm, now) {
        case .failure(let refusal): return refusal.response
        case .success(let grant):
            guard let user = grant.user else { return oauthFault(403, "insufficient_scope", "The token is no user's") }
            let claims = JSONValue.record(["sub": .string(user), "name": .string(user), "given_name": .string(user)])
            return .json(200, claims, note: "told about \(user)")
        }
    }

    /// Ends the session that the hint's `sid` names. A dead one is no error.
    private mutating func endSession(_ request: SandboxRequest, _ now: Int) -> SandboxResponse {
        guard request.reads else { return .methodNotAllowed("GET") }
        guard let hint = request.query["id_token_hint"], !hint.isEmpty else {
            return oauthFault(400, "bad_request", "The endSession endpoint requires an id_token_hint parameter")
        }
        guard let claims = SignedToken.decode(hint, key: grants.secret), let session = claims["sid"]?.text else {
            return oauthFault(400, "bad_request", "The id_token_hint is no id token of this server")
        }
        sessions.end(trackingId: session)
        guard let back = request.query["post_logout_redirect_uri"] else {
            return SandboxResponse(204, note: "session ended")
        }
        guard RedirectURI.isUsable(back) else { return oauthFault(400, "redirect_uri_mismatch", "Not a usable URL") }
        let state = request.query["state"].map { [("state", $0)] } ?? []
        return .redirect(302, to: RedirectURI.adding(state, to: back), note: "session ended")
    }

    private func openIDConfiguration(_ request: SandboxRequest, realm: String) -> SandboxResponse {
        guard request.reads else { return .methodNotAllowed("GET") }
        let issuer = issuer(request, realm: realm)
        let document = JSONValue.record([
            "issuer": .string(issuer), "authorization_endpoint": .string("\(issuer)/authorize"),
            "token_endpoint": .string("\(issuer)/access_token"),
            "revocation_endpoint": .string("\(issuer)/token/revoke"),
            "introspection_endpoint": .string("\(issuer)/introspect"),
            "userinfo_endpoint": .string("\(issuer)/userinfo"),
            "end_session_endpoint": .string("\(issuer)/connect/endSession"),
            "response_types_supported": .strings(["code"]),
            "grant_types_supported": .strings(["authorization_code", "refresh_token", "client_credentials"]),
            "code_challenge_methods_supported": .strings(["S256"]),
            "id_token_signing_alg_values_supported": .strings(["HS256"]),
            "token_endpoint_auth_methods_supported": .strings(["client_secret_basic", "client_secret_post", "none"]),
            "dpop_signing_alg_values_supported": .strings(["ES256"]),
            "subject_types_supported": .strings(["public"]),
        ])
        return .json(200, document, note: "told about OAuth 2.0")
    }
}

/// Where a browser is sent back to.
enum RedirectURI {
    /// An absolute URL of visible ASCII, without a fragment (RFC 6749 §3.1.2).
    static func isUsable(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return false }
        return text[..<colon].utf8.allSatisfy {
            ASCII.isAlpha($0) || ASCII.isDigit($0) || [0x2B, 0x2D, 0x2E].contains($0)
        }
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }
    }

    /// Where the sandbox's clients may have codes sent to: this machine, an app's own scheme, and what was named.
    static func isRegistered(_ text: String, _ named: [String]) -> Bool {
        if named.contains(text) { return true }
        let scheme = ASCII.lowercased(String(text.prefix { $0 != ":" }))
        // RFC 8252 §7.1: the reverse of a name
        guard scheme == "http" || scheme == "https" else { return scheme.contains(".") }
        guard let host = (try? RequestHead(method: "GET", url: text))?.host else { return false }
        return ["localhost", "127.0.0.1", "::1"].contains(host) || host.hasSuffix(".localhost")
    }

    static func adding(_ parameters: [(String, String)], to url: String) -> String {
        var query = QueryText("")
        for (name, value) in parameters { query.add(name, value) }
        return query.isEmpty ? url : url + (url.contains("?") ? "&" : "?") + query.text
    }
}
