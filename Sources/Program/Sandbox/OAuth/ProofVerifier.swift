internal import Formats
internal import HTTPCodec

/// Checks DPoP proofs for bound tokens (RFC 9449). Each proof is valid once.
struct ProofVerifier: Sendable {
    private static let nonceStep = 60

    let demand: SandboxOptions.ProofOfPossession
    private let secret: [UInt8]
    /// The `jti` of used proofs.
    private var shown = ExpiringTable<Bool>(lifetime: 2 * DPoPProof.tolerance)
    /// The count of refused proofs.
    private(set) var refused = 0

    /// - Parameter secret: the key of nonces.
    init(_ demand: SandboxOptions.ProofOfPossession, secret: [UInt8]) {
        self.demand = demand
        self.secret = secret
    }

    /// The current nonce. The previous one is accepted as well.
    func nonce(_ now: Int, back: Int = 0) -> String {
        let period = Array("nonce \(now / Self.nonceStep - back)".utf8)
        return Base64.encode(Signature.code(period, key: secret).prefix(18), urlSafe: true)
    }

    /// The field with the nonce, if proofs need one.
    func nonceFields(_ now: Int) -> [(name: String, value: String)] {
        demand == .nonce ? [("DPoP-Nonce", nonce(now))] : []
    }

    /// The thumbprint of the request's key; nil if it has no proof and needs none.
    /// - Parameter token: the access token with the proof.
    mutating func key(of request: SandboxRequest, token: String? = nil, _ now: Int) throws(OAuthRefusal) -> String? {
        let proofs = request.head.fields.values(named: "DPoP")
        guard let text = proofs.first else {
            guard demand != .offered, token == nil else { return nil }
            throw refusal("a proof is required", now)
        }
        guard proofs.count == 1 else { throw refusal("more than one proof", now) }
        let proof: DPoPProof
        do throws(DPoPProof.Fault) {
            proof = try DPoPProof(text)
            let url = "\(request.origin)\(request.head.path)"
            try proof.check(method: request.head.methodText, url: url, token: token, now: now)
        } catch {
            throw refusal(error.words, now)
        }
        if demand == .nonce, proof.nonce != nonce(now), proof.nonce != nonce(now, back: 1) {
            throw OAuthRefusal(400, "use_dpop_nonce", "a nonce of this server is required", fields: nonceFields(now))
        }
        guard shown.value(proof.id, now: now) == nil else { throw refusal("jti was already used", now) }
        shown.insert(true, id: proof.id, now: now)
        return proof.thumbprint
    }

    private mutating func refusal(_ words: String, _ now: Int) -> OAuthRefusal {
        refused += 1
        return OAuthRefusal(400, "invalid_dpop_proof", words, fields: nonceFields(now))
    }
}
