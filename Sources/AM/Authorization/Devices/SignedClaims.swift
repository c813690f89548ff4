internal import Formats
internal import TLSEngine

/// A JSON Web Token signed with HS256 (RFC 7515, RFC 7519).
enum SignedClaims {
    private static let header = Base64.encode(Array(#"{"typ":"JWT","alg":"HS256"}"#.utf8), urlSafe: true)

    /// Nil if OpenSSL fails.
    static func sign(_ claims: JSONValue, key: [UInt8]) -> String? {
        let signed = "\(header).\(Base64.encode(Array(claims.serialized.utf8), urlSafe: true))"
        return signature(of: signed, key).map { "\(signed).\(Base64.encode($0, urlSafe: true))" }
    }

    /// The claims without a signature check; nil if the text is no token.
    static func unverified(_ token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1]), let claims = try? JSONValue(parsing: bytes),
            claims.members != nil
        else { return nil }
        return claims
    }

    static func isSigned(_ token: String, key: [UInt8]) -> Bool {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64.decode(parts[0]).flatMap({ try? JSONValue(parsing: $0) }),
            head["alg"]?.text == "HS256", let given = Base64.decode(parts[2]),
            let made = signature(of: "\(parts[0]).\(parts[1])", key)
        else { return false }
        return KeyedDigest.isSame(given, made)
    }

    private static func signature(of text: String, _ key: [UInt8]) -> [UInt8]? {
        MessageCode.hmac(.sha256, key: key, Array(text.utf8))
    }
}
