internal import Formats
internal import TLSEngine

/// A DPoP proof: the client has a key (RFC 9449 §4).
struct DPoPProof: Sendable {
    /// The reason why a proof is invalid.
    struct Fault: Error, Equatable {
        var words: String
    }

    /// The tolerance of a client's clock in seconds.
    static let tolerance = 60

    /// The key's thumbprint in base64url (RFC 7638).
    let thumbprint: String
    let id: String
    let method: String
    let url: String
    let issued: Int
    let nonce: String?
    /// The digest of the access token.
    let tokenDigest: String?

    /// Parses a proof and checks its form and signature, which do not depend on the request.
    init(_ text: String) throws(Fault) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
            let signature = Base64.decode(parts[2])
        else { throw Fault(words: "the proof is not a signed JWT") }
        guard header["typ"]?.text == "dpop+jwt" else { throw Fault(words: "typ is not dpop+jwt") }
        guard header["alg"]?.text == "ES256" else { throw Fault(words: "alg is not ES256") }
        guard let jwk = header["jwk"], jwk["kty"]?.text == "EC", jwk["crv"]?.text == "P-256", let x = jwk["x"]?.text,
            let y = jwk["y"]?.text, let key = P256PublicKey(x: Base64.decode(x) ?? [], y: Base64.decode(y) ?? [])
        else { throw Fault(words: "jwk is not a P-256 key") }
        guard jwk["d"] == nil else { throw Fault(words: "jwk has a private key") }
        guard key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)) else {
            throw Fault(words: "the signature does not match the key")
        }
        guard let id = claims["jti"]?.text, !id.isEmpty, let method = claims["htm"]?.text,
            let url = claims["htu"]?.text, let issued = claims["iat"]?.integer
        else { throw Fault(words: "jti, htm, htu or iat is missing") }
        // members in this order, without white space (RFC 7638 §3.2)
        let canonical: JSONValue = ["crv": "P-256", "kty": "EC", "x": .string(x), "y": .string(y)]
        thumbprint = Base64.encode(Digest.sha256(Array(canonical.serialized.utf8)), urlSafe: true)
        self.id = id
        self.method = method
        self.url = url
        self.issued = issued
        nonce = claims["nonce"]?.text
        tokenDigest = claims["ath"]?.text
    }

    private static func json(_ part: Substring) -> JSONValue? {
        Base64.decode(part).flatMap { try? JSONValue(parsing: $0) }
    }

    /// Checks the proof against a request.
    /// - Parameters:
    /// - url: without query and fragment.
    /// - token: the access token with the proof; nil at the token endpoint.
    func check(method: String, url: String, token: String?, now: Int) throws(Fault) {
        guard self.method == method else { throw Fault(words: "htm is not \(method)") }
        guard self.url.prefix(while: { $0 != "?" && $0 != "#" }) == url else { throw Fault(words: "htu is not \(url)") }
        guard abs(now - issued) <= Self.tolerance else { throw Fault(words: "iat is too far from the present") }
        guard let token else { return }
        guard tokenDigest == Base64.encode(Digest.sha256(Array(token.utf8)), urlSafe: true) else {
            throw Fault(words: "ath does not match the access token")
        }
    }
}
