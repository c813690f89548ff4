internal import Formats
internal import HTTPCodec
internal import Interception

/// A response of the token endpoint (RFC 6749 §5).
struct TokenAnswer {
    var access: String
    var refresh: String?
    var lifetime: Int?
    /// `bearer` or `dpop`.
    var type: String

    /// The limit of a decoded response in bytes.
    private static let largest = 256 << 10
    /// The limit of a token in bytes; longer ones do not fit into a head.
    static let longest = 16 << 10
    /// The limit of a lifetime in seconds: ten years. A longer one counts as not given.
    private static let mostSeconds = 315_360_000

    init(_ head: ResponseHead, _ body: [UInt8]) throws(LoginFault) {
        let answer = EditedBody.json(in: body, head.fields, limit: Self.largest)
        guard (200..<300).contains(head.status) else { throw LoginFault(status: head.status, Self.error(answer)) }
        guard let answer, answer.members != nil else { throw .broken("AM's token response is not JSON") }
        guard let access = answer["access_token"]?.text, Self.isToken(access) else {
            throw .broken("AM's token response has no access_token that a header can carry")
        }
        self.access = access
        refresh = answer["refresh_token"]?.text.flatMap { $0.isEmpty || $0.utf8.count > Self.longest ? nil : $0 }
        let lifetime = answer["expires_in"].flatMap { $0.integer ?? $0.text.flatMap { Int($0) } }
        self.lifetime = lifetime.flatMap { (0...Self.mostSeconds).contains($0) ? $0 : nil }
        type = ASCII.lowercased(answer["token_type"]?.text ?? "Bearer")
    }

    /// Whether a text is a valid token (RFC 6750 §2.1, RFC 9449 §7.1) that ends neither the field nor its value.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longest && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2C }
    }

    /// The `error` of a response; nil if it is not a short word.
    static func error(_ answer: JSONValue?) -> String? {
        guard let word = answer?["error"]?.text, !word.isEmpty, word.utf8.count <= 64,
            word.utf8.allSatisfy({ ASCII.isUnreserved($0) })
        else { return nil }
        return word
    }

    /// - Parameter now: seconds since 1970.
    func grant(_ origin: TokenGrant.Origin, now: Int) -> TokenGrant {
        var grant = TokenGrant(access: access, refresh: refresh, origin: origin)
        grant.lifetime = lifetime
        grant.expires = lifetime.map { now + $0 }
        return grant
    }
}

extension LoginFault {
    /// - Parameter word: the error's name, if any.
    init(status: Int, _ word: String?) {
        let isRefusal = (400..<500).contains(status) && status != 408 && status != 429
        let what = "\(status)\(word.map { " (\($0))" } ?? "")"
        self.init(
            reason: isRefusal
                ? "AM refused the token request with \(what)" : "AM responded to the token request with \(what)",
            isRefusal: isRefusal)
    }
}
