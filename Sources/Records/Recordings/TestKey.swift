internal import Formats
public import TLSEngine

/// The key that a replay signs tokens with. It exists only in this process.
public struct TestKey: Sendable {
    private let key: PrivateKey
    private let id: String

    /// - Throws: `MaterialFault` if OpenSSL makes no key.
    public init() throws(MaterialFault) {
        key = try .makeP256()
        id = Base64.encode((0..<9).map { _ in UInt8.random(in: 0...255) }, urlSafe: true)
    }

    /// A token with ES256 (RFC 7515 §7.1).
    func token(_ claims: JSONValue) -> String {
        let header: JSONValue = ["typ": "JWT", "alg": "ES256", "kid": .string(id)]
        let signed = [header, claims].map { Base64.encode($0.written.utf8, urlSafe: true) }.joined(separator: ".")
        return "\(signed).\(Base64.encode(key.es256(Array(signed.utf8)) ?? [], urlSafe: true))"
    }

    /// The public key as a set of JSON Web Keys (RFC 7517 §5).
    var keySet: JSONValue {
        let point = key.publicPoint ?? []
        return [
            "keys": [
                [
                    "kty": "EC", "use": "sig", "alg": "ES256", "crv": "P-256", "kid": .string(id),
                    "x": .string(Base64.encode(point.prefix(32), urlSafe: true)),
                    "y": .string(Base64.encode(point.suffix(32), urlSafe: true)),
                ]
            ]
        ]
    }
}
