internal import Formats
internal import HTTPCodec
internal import TLSEngine

/// The code flow: `authorize` and `access_token`.
extension SandboxServer {
    /// Consent is implied for GET, unless a page is to ask for it. POST is consent given: it names `decision=allow` and proves with `csrf`, the
    /// session's token, that it comes from the session's own page.
    mutating func authorize(_ request: SandboxRequest, realm: String, _ now: Int) -> SandboxResponse {
        let posted = request.head.method == .post
        guard request.reads || posted else { return .methodNotAllowed("GET, POST") }
        let asked = posted ? request.form : request.query
        guard let client = Directory.clients.first(where: { $0.id == asked["client_id"] }) else {
            return oauthFault(400, "invalid_client", "Unknown client_id")
        }
        guard let back = asked["redirect_uri"], RedirectURI.isUsable(back) else {
            return oauthFault(400, "redirect_uri_mismatch", "The redirect_uri is missing or not a usable URL")
        }
        guard RedirectURI.isRegistered(back, options.redirectURIs) else {
            return oauthFault(400, "redirect_uri_mismatch", "The redirect_uri is none of the client's")
        }
        let state = asked["state"].map { [("state", $0)] } ?? []
        func refused(_ error: String, _ description: String) -> SandboxResponse {
            let parameters = [("error", error), ("error_description", description)] + state
            return .redirect(302, to: RedirectURI.adding(parameters, to: back), note: error)
        }
        guard asked["response_type"] == "code" else {
            return refused("unsupported_response_type", "Only the code flow is offered")
        }
        // RFC 7636 §4.4.1; a challenge in plain proves nothing to whoever saw the request
        guard asked["code_challenge"] == nil || asked["code_challenge_method"] == "S256" else {
            return refused("invalid_request", "code_challenge_method has to be S256")
        }
        guard client.secret != nil || asked["code_challenge"] != nil else {
            return refused("invalid_request", "A public client needs a code_challenge")
        }
        guard let session = session(of: request, now), session.realm == realm else {
            guard asked["prompt"] != "none" else { return refused("login_required", "No session") }
            let location = "\(amURL(request))/?goto=\(PercentCoding.encode(request.head.url))&realm=\(realm)"
            return .redirect(302, to: location, note: "no session: sent to sign in")
        }
        if posted {
            guard asked["csrf"] == session.token else { return oauthFault(400, "bad_request", "Wrong csrf") }
            guard asked["decision"] == "allow" else { return refused("access_denied", "Consent refused") }
        } else if options.asksConsent {
            guard asked["prompt"] != "none" else { return refused("consent_required", "Nobody has consented") }
            return consentPage(asked, client, session)
        }
        let grant = GrantTable.Grant(
            id: tokens.uuid(), client: client.id, user: session.user, realm: realm, scope: asked["scope"] ?? "",
            session: session.trackingId, nonce: asked["nonce"], key: asked["dpop_jkt"])
        let code = GrantTable.Code(grant: grant, redirectURI: back, challenge: asked["code_challenge"])
        let id = grants.addCode(code, &tokens, now)
        let parameters =
            [("code", id), ("iss", issuer(request, realm: realm))] + state + [("client_id", client.id)]
        return .redirect(302, to: RedirectURI.adding(parameters, to: back), note: "a code for \(session.user)")
    }

    /// The form that a person answers: what was asked for, and proof that it comes from here.
    private func consentPage(_ asked: QueryText, _ client: Directory.Client, _ session: Session) -> SandboxResponse {
        func hidden(_ name: String, _ value: String) -> String {
            "<input type=\"hidden\" name=\"\(MarkupText.escaped(name))\" value=\"\(MarkupText.escaped(value))\">"
        }
        let fields =
            asked.pairs.map { hidden(QueryText.name($0), QueryText.value($0)) } + [hidden("csrf", session.token)]
        let page = """
            <!DOCTYPE html>
            <html lang="en"><title>Consent</title>
            <form method="post"><p>\(client.id) asks for \(MarkupText.escaped(asked["scope"] ?? "nothing")).</p>
            \(fields.joined())
            <button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button>
            </form></html>

            """
        return SandboxResponse(
            200, note: "asks \(session.user) for consent", fields: [("Content-Type", "text/html; charset=utf-8")],
            body: .bytes(Array(page.utf8)))
    }

    mutating func issueToken(_ request: SandboxRequest, realm: String, _ now: Int) -> SandboxResponse {
        guard request.head.method == .post else { return .methodNotAllowed("POST") }
        guard request.mediaType == "application/x-www-form-urlencoded" else {
            return oauthFault(400, "invalid_request", "The body must be application/x-www-form-urlencoded")
        }
        let form = request.form
        let client: Directory.Client
        switch self.client(of: request) {
        case .failure(let refusal): return refusal.response
        case .success(let known): client = known
        }
        let key: String?
        switch provenKey(request, now) {
        case .failure(let refusal): return refusal.response
        case .success(let proven): key = proven
        }
        switch form["grant_type"] {
        case "authorization_code": return redeemCode(request, form, client, key, realm, now)
        case "refresh_token":
            guard let token = form["refresh_token"], grants.refreshGrant(token, now: now)?.realm ?? realm == realm,
                let grant = grants.takeRefreshToken(token, client: client.id, key: key, now: now)
            else {
                return oauthFault(
                    400, "invalid_grant", "The refresh token is unknown, was used, or is bound to another key")
            }
            return tokenResponse(request, grant, key, now, note: "tokens refreshed")
        case "client_credentials":
            guard client.secret != nil else {
                return oauthFault(400, "unauthorized_client", "A public client has no credentials")
            }
            let grant = GrantTable.Grant(id: tokens.uuid(), client: client.id, realm: realm, scope: form["scope"] ?? "")
            return tokenResponse(request, grant, key, now, note: "a token for the client itself")
        case nil: return oauthFault(400, "invalid_request", "Missing parameter: grant_type")
        default: return oauthFault(400, "unsupported_grant_type", "Grant type is not supported")
        }
    }

    private mutating func redeemCode(
        _ request: SandboxRequest, _ form: QueryText, _ client: Directory.Client, _ key: String?, _ realm: String,
        _ now: Int
    ) -> SandboxResponse {
        guard let code = form["code"].flatMap({ grants.takeCode($0, now: now) }), code.grant.client == client.id,
            code.grant.realm == realm, code.redirectURI == form["redirect_uri"]
        else { return oauthFault(400, "invalid_grant", "The code is unknown, used or not this client's") }
        if let challenge = code.challenge {
            let verifier = form["code_verifier"] ?? ""
            guard Base64.encode(Digest.sha256(Array(verifier.utf8)), urlSafe: true) == challenge else {
                return oauthFault(400, "invalid_grant", "The code_verifier does not match the code_challenge")
            }
        }
        guard code.grant.key == nil || code.grant.key == key else {
            return oauthFault(400, "invalid_dpop_proof", "The code is bound to another key")
        }
        return tokenResponse(request, code.grant, key, now, note: "tokens for a code")
    }

    private mutating func tokenResponse(
        _ request: SandboxRequest, _ grant: GrantTable.Grant, _ key: String?, _ now: Int, note: String
    ) -> SandboxResponse {
        var grant = grant
        grant.key = key
        var answer = JSONValue.record([
            "access_token": .string(grants.addAccessToken(grant, &tokens, now)), "scope": .string(grant.scope),
            "token_type": .string(key == nil ? "Bearer" : "DPoP"), "expires_in": .integer(grants.accessLife),
        ])
        if let user = grant.user {
            // what a client with a secret gets is bound to that instead (RFC 9449 §5)
            if Directory.clients.contains(where: { $0.id == grant.client && $0.secret != nil }) { grant.key = nil }
            answer["refresh_token"] = .string(grants.addRefreshToken(grant, &tokens, now))
            if grant.scope.split(separator: " ").contains("openid") {
                var claims = JSONValue.record([
                    "iss": .string(issuer(request, realm: grant.realm)), "sub": .string(user),
                    "aud": .string(grant.client), "iat": .integer(now),
                    "exp": .integer(now + grants.accessLife), "sid": .string(grant.session ?? ""),
                ])
                claims["nonce"] = grant.nonce.map { .string($0) }
                answer["id_token"] = .string(SignedToken.encode(claims, key: grants.secret))
            }
        }
        var response = SandboxResponse.json(200, answer, note: note)
        response.fields.append(("Cache-Control", "no-store"))
        if options.proofs == .nonce { response.fields.append(("DPoP-Nonce", proofNonce(now))) }
        return response
    }
}
