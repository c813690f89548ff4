internal import Formats
internal import HTTPCodec

/// Who shows a token, and a proof where one is wanted.
extension SandboxServer {
    private static let nonceStep = 60

    /// The nonce that proofs carry now. The one before is taken as well.
    func proofNonce(_ now: Int, back: Int = 0) -> String {
        let period = Array("nonce \(now / Self.nonceStep - back)".utf8)
        return Base64.encode(Signature.code(period, key: grants.secret).prefix(18), urlSafe: true)
    }

    /// The thumbprint of the key that a request proves to have; nil where it shows no proof and needs none.
    /// - Parameter token: the access token that goes with it.
    mutating func provenKey(_ request: SandboxRequest, token: String? = nil, _ now: Int) -> Result<
        String?, OAuthRefusal
    > {
        let shown = request.head.fields.values(named: "DPoP")
        guard !shown.isEmpty else {
            guard options.proofs != .offered, token == nil else { return .success(nil) }
            return .failure(refusedProof("a proof is required", now))
        }
        guard shown.count == 1, let text = shown.first else {
            return .failure(refusedProof("more than one proof", now))
        }
        do {
            let proof = try DPoPProof(text)
            let url = "\(request.origin)\(request.head.path)"
            try proof.check(method: request.head.methodText, url: url, token: token, now: now)
            if options.proofs == .nonce, proof.nonce != proofNonce(now), proof.nonce != proofNonce(now, back: 1) {
                return .failure(refusedProof("a nonce of this server is required", error: "use_dpop_nonce", now))
            }
            guard grants.takeProof(proof.id, now: now) else {
                return .failure(refusedProof("jti was used before", now))
            }
            return .success(proof.thumbprint)
        } catch {
            return .failure(refusedProof(error.words, now))
        }
    }

    private mutating func refusedProof(
        _ words: String, error: String = "invalid_dpop_proof", _ now: Int
    ) -> OAuthRefusal {
        if error != "use_dpop_nonce" { grants.tally.refusedProofs += 1 }
        var response = oauthFault(400, error, words)
        if options.proofs == .nonce { response.fields.append(("DPoP-Nonce", proofNonce(now))) }
        return OAuthRefusal(response: response)
    }

    /// What the token in `Authorization` stands for, or the challenge that says why it does not count (RFC 6750 §3,
    /// RFC 9449 §7.1).
    mutating func tokenGrant(_ request: SandboxRequest, realm: String, _ now: Int) -> Result<
        GrantTable.Grant, OAuthRefusal
    > {
        let bound = request.authorization("DPoP")
        guard let token = bound ?? request.authorization("Bearer") else {
            return .failure(challenge(realm, isBound: options.proofs != .offered, nil, now))
        }
        guard let grant = grants.grant(token, now: now), grant.realm == realm else {
            return .failure(
                challenge(
                    realm, isBound: bound != nil, ("invalid_token", "The access token expired or is unknown"), now))
        }
        guard (bound != nil) == (grant.key != nil) else {
            return .failure(
                challenge(realm, isBound: grant.key != nil, ("invalid_token", "The token's type is another one"), now))
        }
        guard let key = grant.key else { return .success(grant) }
        switch provenKey(request, token: token, now) {
        case .success(key): return .success(grant)
        case .success:
            return .failure(
                challenge(realm, isBound: true, ("invalid_dpop_proof", "No proof with the token's key"), now))
        case .failure(let refusal):
            return .failure(challenge(realm, isBound: true, refusal.fault, now))
        }
    }

    /// 401, with a reason where one was tried.
    private func challenge(
        _ realm: String, isBound: Bool, _ fault: (error: String, words: String)?, _ now: Int
    ) -> OAuthRefusal {
        var parameters = ["realm=\"\(realm)\""]
        if let fault { parameters += ["error=\"\(fault.error)\"", "error_description=\"\(fault.words)\""] }
        if isBound { parameters.append("algs=\"ES256\"") }
        let (error, words) = fault ?? ("invalid_token", "The request has no access token")
        var response = oauthFault(401, error, words)
        response.fields.append(
            ("WWW-Authenticate", "\(isBound ? "DPoP" : "Bearer") \(parameters.joined(separator: ","))"))
        if isBound, options.proofs == .nonce { response.fields.append(("DPoP-Nonce", proofNonce(now))) }
        return OAuthRefusal(response: response)
    }
}

/// A request that an OAuth endpoint turned down, with its answer.
struct OAuthRefusal: Error {
    var response: SandboxResponse

    /// As its body tells it.
    var fault: (error: String, words: String)? {
        guard let body = try? JSONValue(parsing: response.body.content), let error = body["error"]?.text else {
            return nil
        }
        return (error, body["error_description"]?.text ?? "")
    }
}
