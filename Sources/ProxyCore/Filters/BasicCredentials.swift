import Formats
import HTTPCodec

/// What a client says of itself in `Proxy-Authorization: Basic …` (RFC 7617 §2).
struct BasicCredentials: Equatable {
    var user: String
    /// As it came: in UTF-8, as the challenge asks, or in whatever the client took instead.
    var password: [UInt8]

    /// Longer than any that a person or a program uses; more is no password but an attempt to keep the hash busy.
    private static let longest = 512

    /// Nil where the request holds none, several, or what is not this scheme.
    init?(_ request: borrowing RequestHead) {
        guard let index = request.fields.first(.proxyAuthorization) else { return nil }
        for other in (index + 1)..<max(index + 1, request.fields.count)
        where request.fields.slots[other].known == .proxyAuthorization {
            return nil
        }
        self.init(field: request.fields.value(index))
    }

    init?(field value: String) {
        let words = value.split(separator: " ")
        guard words.count == 2, ASCII.equal(words[0], "Basic"), let bytes = Base64.decode(words[1]),
            bytes.count <= Self.longest, let colon = bytes.firstIndex(of: ASCII.colon),
            let user = String(validating: bytes[..<colon], as: UTF8.self),
            // neither part may hold control characters (RFC 7617 §2)
            !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        self.user = user
        password = Array(bytes[(colon + 1)...])
    }
}
