import Formats
import HTTPCodec

/// The user and password of a request's `Proxy-Authorization: Basic …` field (RFC 7617 §2).
struct BasicCredentials: Equatable {
    var user: String
    /// The bytes as the client sent them: UTF-8, as the challenge asks, or another encoding.
    var password: [UInt8]

    /// The most bytes that the decoded credentials may have; it keeps an attacker from burdening the password hash.
    private static let longest = 512

    /// Nil if the request has no such field, several of them, or another scheme.
    init?(_ request: borrowing RequestHead) {
        guard let index = request.fields.only(.proxyAuthorization) else { return nil }
        self.init(field: request.fields.value(index))
    }

    init?(field value: String) {
        let words = value.split(separator: " ")
        guard words.count == 2, ASCII.equal(words[0], "Basic"), let bytes = Base64.decode(words[1]),
            bytes.count <= Self.longest, let colon = bytes.firstIndex(of: ASCII.colon),
            let user = String(validating: bytes[..<colon], as: UTF8.self),
            // RFC 7617 §2 forbids control characters in both parts
            !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        self.user = user
        password = Array(bytes[(colon + 1)...])
    }
}
