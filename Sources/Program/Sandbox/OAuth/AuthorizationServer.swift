internal import Formats
internal import HTTPCodec
internal import TLSEngine

/// `oauth2/…`: AM's OAuth 2.0 server. It issues tokens and checks presented ones.
struct AuthorizationServer: Sendable {
    private let options: SandboxOptions
    var directory: Directory
    /// The key of id tokens.
    private let secret: [UInt8]
    private(set) var grants: GrantTable
    private(set) var proofs: ProofVerifier

    init(_ options: SandboxOptions, secret: [UInt8]) {
        self.options = options
        directory = options.known
        self.secret = secret
        grants = GrantTable(options.lives)
        proofs = ProofVerifier(options.proofs, secret: secret)
    }

    mutating func answer(
        _ request: SandboxRequest, _ route: RealmRoute, _ store: inout CoreTokenStore, _ now: Int
    ) -> SandboxResponse {
        let realm = route.realm
        do throws(OAuthRefusal) {
            switch route.rest {
            case ["authorize"]: return try authorize(request, realm, &store, now)
            case ["access_token"]: return try issueToken(request, realm, &store.ids, now)
            case ["token", "revoke"]: return try revokeToken(request, now)
            case ["introspect"]: return try introspect(request, realm, now)
            case ["userinfo"]: return try userInfo(request, realm, now)
            case ["connect", "endSession"]: return try endSession(request, &store.sessions)
            case [".well-known", "openid-configuration"]: return configuration(request, realm)
            default: return .notFound(request, note: "no such endpoint")
            }
        } catch {
            return error.response
        }
    }

    /// Such as `http://host/am/oauth2/realms/root/realms/alpha`.
    private func issuer(_ request: SandboxRequest, _ realm: String) -> String {
        "\(request.amURL(options))/oauth2\(RealmRoute.path(realm))"
    }

    // MARK: the code flow

    /// GET implies consent unless a page is configured to ask for it. POST gives consent: it has `decision=allow`, and `csrf`
    /// with the session's token as proof.
    private mutating func authorize(
        _ request: SandboxRequest, _ realm: String, _ store: inout CoreTokenStore, _ now: Int
    ) throws(OAuthRefusal) -> SandboxResponse {
        let posted = request.head.method == .post
        guard request.reads || posted else { return .methodNotAllowed("GET, POST") }
        let asked = try AuthorizationRequest(
            posted ? request.form : request.query, directory, registered: options.redirectURIs)
        if let refusal = asked.refusal { return refusal }
        guard let session = store.sessions.find(shownBy: request, now: now), session.realm == realm else {
            guard asked["prompt"] != "none" else { return asked.refused("login_required", "No session") }
            let location = "\(request.amURL(options))/?goto=\(PercentCoding.encode(request.head.url))&realm=\(realm)"
            return .redirect(302, to: location, note: "no session: redirect to sign in")
        }
        if posted {
            guard asked["csrf"] == session.token else { throw OAuthRefusal(400, "bad_request", "Wrong csrf") }
            guard asked["decision"] == "allow" else { return asked.refused("access_denied", "Consent refused") }
        } else if options.asksConsent {
            guard asked["prompt"] != "none" else { return asked.refused("consent_required", "There is no consent") }
            return asked.consentPage(session)
        }
        let grant = GrantTable.Grant(
            id: store.ids.uuid(), client: asked.client.id, user: session.user, realm: realm,
            scope: asked["scope"] ?? "", session: session.trackingId, nonce: asked["nonce"], key: asked["dpop_jkt"])
        let code = GrantTable.Code(grant: grant, redirectURI: asked.redirectURI, challenge: asked["code_challenge"])
        return asked.granted(grants.addCode(code, &store.ids, now), by: issuer(request, realm), to: session.user)
    }

    private mutating func issueToken(
        _ request: SandboxRequest, _ realm: String, _ ids: inout TokenSource, _ now: Int
    ) throws(OAuthRefusal) -> SandboxResponse {
        guard request.head.method == .post else { return .methodNotAllowed("POST") }
        guard request.mediaType == "application/x-www-form-urlencoded" else {
            throw OAuthRefusal(400, "invalid_request", "The body must be application/x-www-form-urlencoded")
        }
        let form = request.form
        let client = try client(of: request)
        let key = try proofs.key(of: request, now)
        switch form["grant_type"] {
        case "authorization_code":
            let grant = try redeemCode(form, client, key, realm, now)
            return tokens(request, grant, key, &ids, now, note: "tokens for a code")
        case "refresh_token":
            guard let token = form["refresh_token"], grants.refreshGrant(token, now: now)?.realm ?? realm == realm,
                let grant = grants.takeRefreshToken(token, client: client.id, key: key, now: now)
            else {
                throw OAuthRefusal(
                    400, "invalid_grant", "The refresh token is unknown, was used, or is bound to another key")
            }
            return tokens(request, grant, key, &ids, now, note: "tokens refreshed")
        case "client_credentials":
            guard client.secret != nil else {
                throw OAuthRefusal(400, "unauthorized_client", "A public client has no credentials")
            }
            let grant = GrantTable.Grant(id: ids.uuid(), client: client.id, realm: realm, scope: form["scope"] ?? "")
            return tokens(request, grant, key, &ids, now, note: "a token for the client itself")
        case nil: throw OAuthRefusal(400, "invalid_request", "Missing parameter: grant_type")
        default: throw OAuthRefusal(400, "unsupported_grant_type", "Grant type is not supported")
        }
    }

    private mutating func redeemCode(
        _ form: QueryText, _ client: Directory.Client, _ key: String?, _ realm: String, _ now: Int
    ) throws(OAuthRefusal) -> GrantTable.Grant {
        guard let code = form["code"].flatMap({ grants.takeCode($0, now: now) }), code.grant.client == client.id,
            code.grant.realm == realm, code.redirectURI == form["redirect_uri"]
        else { throw OAuthRefusal(400, "invalid_grant", "The code is unknown, was used, or belongs to another client") }
        if let challenge = code.challenge {
            let verifier = form["code_verifier"] ?? ""
            guard Base64.encode(Digest.sha256(Array(verifier.utf8)), urlSafe: true) == challenge else {
                throw OAuthRefusal(400, "invalid_grant", "The code_verifier does not match the code_challenge")
            }
        }
        guard code.grant.key == nil || code.grant.key == key else {
            throw OAuthRefusal(400, "invalid_dpop_proof", "The code is bound to another key")
        }
        return code.grant
    }

    private mutating func tokens(
        _ request: SandboxRequest, _ grant: GrantTable.Grant, _ key: String?, _ ids: inout TokenSource, _ now: Int,
        note: String
    ) -> SandboxResponse {
        var grant = grant
        grant.key = key
        var answer: JSONValue = [
            "access_token": .string(grants.addAccessToken(grant, &ids, now)), "scope": .string(grant.scope),
            "token_type": .string(key == nil ? "Bearer" : "DPoP"), "expires_in": .integer(grants.accessLife),
        ]
        if let user = grant.user {
            // a confidential client's refresh token is bound to its credentials instead (RFC 9449 §5)
            if directory.client(grant.client)?.secret != nil { grant.key = nil }
            answer["refresh_token"] = .string(grants.addRefreshToken(grant, &ids, now))
            if grant.scope.split(separator: " ").contains("openid") {
                var claims: JSONValue = [
                    "iss": .string(issuer(request, grant.realm)), "sub": .string(user), "aud": .string(grant.client),
                    "iat": .integer(now), "exp": .integer(now + grants.accessLife), "sid": .string(grant.session ?? ""),
                ]
                claims["nonce"] = grant.nonce.map { .string($0) }
                answer["id_token"] = .string(SignedToken.encode(claims, key: secret))
            }
        }
        var response = SandboxResponse.json(200, answer, note: note).adding("Cache-Control", "no-store")
        response.fields += proofs.nonceFields(now)
        return response
    }

    /// The client in a form, authenticated by Basic or form parameters if it has a secret.
    private func client(of request: SandboxRequest) throws(OAuthRefusal) -> Directory.Client {
        var id = request.form["client_id"]
        var secret = request.form["client_secret"]
        let basic = request.authorization("Basic")
        if let basic {
            let pair = Base64.decode(basic).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let halves = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            id = halves.first.map { PercentCoding.decode($0, plusAsSpace: true) }
            secret = halves.count == 2 ? PercentCoding.decode(halves[1], plusAsSpace: true) : nil
        }
        guard let client = directory.client(id),
            client.secret == nil || client.secret == secret
        else { throw Self.unknownClient(basic == nil ? 400 : 401) }
        return client
    }

    private static func unknownClient(_ status: Int) -> OAuthRefusal {
        OAuthRefusal(
            status, "invalid_client", "Client authentication failed",
            fields: status == 401 ? [("WWW-Authenticate", "Basic realm=\"/\"")] : [])
    }

    // MARK: revocation, introspection and logout

    private mutating func revokeToken(_ request: SandboxRequest, _ now: Int) throws(OAuthRefusal) -> SandboxResponse {
        guard request.head.method == .post else { return .methodNotAllowed("POST") }
        guard let token = request.form["token"], !token.isEmpty else {
            throw OAuthRefusal(400, "invalid_request", "Missing parameter: token")
        }
        grants.revoke(token, client: try client(of: request).id, now: now)
        return .json(200, .object([]), note: "token revoked")
    }

    /// Token introspection (RFC 7662) for clients with a secret.
    private func introspect(
        _ request: SandboxRequest, _ realm: String, _ now: Int
    ) throws(OAuthRefusal) -> SandboxResponse {
        guard request.head.method == .post || request.reads else { return .methodNotAllowed("GET, POST") }
        guard let client = try? client(of: request), client.secret != nil else { throw Self.unknownClient(401) }
        guard let token = request.form["token"] ?? request.query["token"] else {
            throw OAuthRefusal(400, "invalid_request", "Missing parameter: token")
        }
        let access = grants.grant(token, now: now)
        guard let grant = access ?? grants.refreshGrant(token, now: now), grant.realm == realm else {
            return .json(200, ["active": false], note: "token is not active")
        }
        var answer: JSONValue = [
            "active": true, "scope": .string(grant.scope), "realm": .string(realm), "client_id": .string(grant.client),
            "iss": .string(issuer(request, realm)),
            "token_type": .string(access == nil ? "refresh_token" : grant.key == nil ? "Bearer" : "DPoP"),
        ]
        if let user = grant.user {
            for name in ["user_id", "username", "sub"] { answer[name] = .string(user) }
        }
        if access != nil {
            answer["exp"] = .integer(grant.issued + grants.accessLife)
            answer["expires_in"] = .integer(max(0, grant.issued + grants.accessLife - now))
        }
        if let key = grant.key { answer["cnf"] = ["jkt": .string(key)] }
        return .json(200, answer, note: "token of \(grant.user ?? grant.client): information")
    }

    private mutating func userInfo(
        _ request: SandboxRequest, _ realm: String, _ now: Int
    ) throws(OAuthRefusal) -> SandboxResponse {
        guard request.reads || request.head.method == .post else { return .methodNotAllowed("GET, POST") }
        guard let user = try grant(shownBy: request, realm: realm, now).user else {
            throw OAuthRefusal(403, "insufficient_scope", "The token has no user")
        }
        let claims: JSONValue = ["sub": .string(user), "name": .string(user), "given_name": .string(user)]
        return .json(200, claims, note: "information about \(user)")
    }

    /// Ends the session in the hint's `sid`. An ended session is no error.
    private func endSession(
        _ request: SandboxRequest, _ sessions: inout SessionTable
    ) throws(OAuthRefusal) -> SandboxResponse {
        guard request.reads else { return .methodNotAllowed("GET") }
        guard let hint = request.query["id_token_hint"], !hint.isEmpty else {
            throw OAuthRefusal(400, "bad_request", "The endSession endpoint requires an id_token_hint parameter")
        }
        guard let claims = SignedToken.decode(hint, key: secret), let session = claims["sid"]?.text else {
            throw OAuthRefusal(400, "bad_request", "The id_token_hint is not an id token of this server")
        }
        sessions.end(trackingId: session)
        guard let back = request.query["post_logout_redirect_uri"] else {
            return SandboxResponse(204, note: "session ended")
        }
        guard RedirectURI.isUsable(back) else { throw OAuthRefusal(400, "redirect_uri_mismatch", "Not a usable URL") }
        let state = request.query["state"].map { [("state", $0)] } ?? []
        return .redirect(302, to: RedirectURI.adding(state, to: back), note: "session ended")
    }

    private func configuration(_ request: SandboxRequest, _ realm: String) -> SandboxResponse {
        guard request.reads else { return .methodNotAllowed("GET") }
        let issuer = issuer(request, realm)
        let document: JSONValue = [
            "issuer": .string(issuer), "authorization_endpoint": "\(issuer)/authorize",
            "token_endpoint": "\(issuer)/access_token", "revocation_endpoint": "\(issuer)/token/revoke",
            "introspection_endpoint": "\(issuer)/introspect", "userinfo_endpoint": "\(issuer)/userinfo",
            "end_session_endpoint": "\(issuer)/connect/endSession", "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "code_challenge_methods_supported": ["S256"], "id_token_signing_alg_values_supported": ["HS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
            "dpop_signing_alg_values_supported": ["ES256"], "subject_types_supported": ["public"],
        ]
        return .json(200, document, note: "OAuth 2.0 metadata")
    }

    // MARK: presented tokens

    /// The grant of the token in `Authorization`. Throws the challenge of an invalid token (RFC 6750 §3, RFC 9449 §7.1).
    mutating func grant(
        shownBy request: SandboxRequest, realm: String, _ now: Int
    ) throws(OAuthRefusal) -> GrantTable.Grant {
        let bound = request.authorization("DPoP")
        guard let token = bound ?? request.authorization("Bearer") else {
            throw challenge(realm, isBound: proofs.demand != .offered, nil, now)
        }
        guard let grant = grants.grant(token, now: now), grant.realm == realm else {
            let words = "The access token expired or is unknown"
            throw challenge(realm, isBound: bound != nil, ("invalid_token", words), now)
        }
        guard (bound != nil) == (grant.key != nil) else {
            throw challenge(realm, isBound: grant.key != nil, ("invalid_token", "The token has another type"), now)
        }
        guard let key = grant.key else { return grant }
        let proven: String?
        do throws(OAuthRefusal) {
            proven = try proofs.key(of: request, token: token, now)
        } catch {
            throw challenge(realm, isBound: true, (error.error, error.words), now)
        }
        guard proven == key else {
            throw challenge(realm, isBound: true, ("invalid_dpop_proof", "There is no proof with the token's key"), now)
        }
        return grant
    }

    /// A 401, with a reason if a token was presented.
    private func challenge(
        _ realm: String, isBound: Bool, _ fault: (error: String, words: String)?, _ now: Int
    ) -> OAuthRefusal {
        var parameters = ["realm=\"\(realm)\""]
        if let fault { parameters += ["error=\"\(fault.error)\"", "error_description=\"\(fault.words)\""] }
        if isBound { parameters.append("algs=\"ES256\"") }
        let (error, words) = fault ?? ("invalid_token", "The request has no access token")
        let value = "\(isBound ? "DPoP" : "Bearer") \(parameters.joined(separator: ","))"
        return OAuthRefusal(
            401, error, words, fields: [("WWW-Authenticate", value)] + (isBound ? proofs.nonceFields(now) : []))
    }

    /// Whether a request carries a client-credentials token of this realm.
    func isService(_ request: SandboxRequest, realm: String, _ now: Int) -> Bool {
        guard let grant = request.authorization("Bearer").flatMap({ grants.grant($0, now: now) }) else { return false }
        return grant.user == nil && grant.realm == realm && grant.key == nil
    }

    /// Ends the request's token early, but only the first of each consent.
    mutating func spoilToken(of request: SandboxRequest, _ now: Int) {
        guard let token = request.authorization("DPoP") ?? request.authorization("Bearer") else { return }
        grants.spoil(token, now: now)
    }
}
