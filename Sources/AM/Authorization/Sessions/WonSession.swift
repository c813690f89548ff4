internal import Formats
internal import HTTPCodec

/// The session in a response that ends a login: from `Set-Cookie`, else from `tokenId`. Either may be missing
/// (docs/protocol.md#how-it-ends).
struct WonSession: Sendable {
    let token: String
    /// AM's `Set-Cookie` values for the session, unchanged.
    let lines: [String]

    /// Nil if there is no session that a cookie can carry.
    init?(_ answer: JSONValue, _ fields: FieldTable, cookie name: String) {
        lines = fields.values(named: "Set-Cookie").filter { line in
            guard let cookie = SetCookie(line), cookie.name == name else { return false }
            return !cookie.deletes && SessionSource.isUsable(cookie.value)
        }
        guard let token = lines.first.flatMap({ SetCookie($0)?.value }) ?? answer["tokenId"]?.text,
            SessionSource.isUsable(token), token.utf8.count <= SessionSource.longest
        else { return nil }
        self.token = token
    }
}
