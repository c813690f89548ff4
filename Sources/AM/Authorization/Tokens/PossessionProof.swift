internal import Formats
public import HTTPCodec
public import TLSEngine

/// DPoP proofs: the sender of a token has the key that the token is bound to (RFC 9449).
public enum PossessionProof {
    /// The value of the field `DPoP`; nil if the key cannot sign.
    /// - Parameters:
    /// - token: the token in the request, if any.
    /// - nonce: the nonce that the receiver requires.
    /// - now: seconds since 1970.
    public static func make(
        _ key: PrivateKey, for head: RequestHead, token: String? = nil, nonce: String?, now: Int
    ) -> String? {
        guard let jwk = jwk(key) else { return nil }
        let header: JSONValue = ["typ": "dpop+jwt", "alg": "ES256", "jwk": .object(jwk)]
        let url = head.url
        var claims: JSONValue = [
            "jti": .string(RandomText.make()), "htm": .string(head.methodText),
            "htu": .string(String(Substring(url.utf8.prefix { $0 != 0x3F }))), "iat": .integer(now),
        ]
        if let token {
            claims["ath"] = .string(Base64.encode(Digest.sha256(Array(token.utf8)), urlSafe: true))
        }
        if let nonce { claims["nonce"] = .string(nonce) }
        let signed = encoded(header) + "." + encoded(claims)
        return key.es256(Array(signed.utf8)).map { "\(signed).\(Base64.encode($0, urlSafe: true))" }
    }

    /// The thumbprint of a key (RFC 7638 §3).
    static func thumbprint(_ key: PrivateKey) -> String? {
        jwk(key).map { thumbprint($0) }
    }

    static func thumbprint(_ members: [JSONValue.Member]) -> String {
        let text = JSONValue.object(members.sorted { $0.name < $1.name }).serialized
        return Base64.encode(Digest.sha256(Array(text.utf8)), urlSafe: true)
    }

    /// The public key with its members sorted by name.
    private static func jwk(_ key: PrivateKey) -> [JSONValue.Member]? {
        guard let point = key.publicPoint else { return nil }
        return [
            .init("crv", .string("P-256")), .init("kty", .string("EC")),
            .init("x", .string(Base64.encode(point.prefix(32), urlSafe: true))),
            .init("y", .string(Base64.encode(point.suffix(32), urlSafe: true))),
        ]
    }

    private static func encoded(_ value: JSONValue) -> String { Base64.encode(value.serialized.utf8, urlSafe: true) }

    /// The nonce of a response (RFC 9449 §8); nil if there is no valid one.
    public static func nonce(_ fields: FieldTable) -> String? {
        guard let nonce = fields["DPoP-Nonce"], !nonce.isEmpty, nonce.utf8.count <= 512,
            nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { return nil }
        return nonce
    }
}
