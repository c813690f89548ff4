internal import Formats

/// A JSON Web Token signed with HS256 (RFC 7519, RFC 7515 §7.1).
enum SignedToken {
    private static let header = Base64.encode(Array(#"{"typ":"JWT","alg":"HS256"}"#.utf8), urlSafe: true)

    static func encode(_ claims: JSONValue, key: [UInt8]) -> String {
        let signed = "\(header).\(Base64.encode(Array(claims.serialized.utf8), urlSafe: true))"
        return "\(signed).\(signature(signed, key))"
    }

    /// The claims; nil if the text is no token signed with `key`.
    static func decode(_ text: String, key: [UInt8]) -> JSONValue? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == header, parts[2] == signature("\(parts[0]).\(parts[1])", key),
            let bytes = Base64.decode(parts[1])
        else { return nil }
        return try? JSONValue(parsing: bytes)
    }

    private static func signature(_ text: String, _ key: [UInt8]) -> String {
        Base64.encode(Signature.code(Array(text.utf8), key: key), urlSafe: true)
    }
}
