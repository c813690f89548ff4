internal import Formats
internal import HTTPCodec

/// The session in an answer of AM that ends a login: in `Set-Cookie` first and in `tokenId` second; either may be missing
/// (docs/protocol.md#how-it-ends).
struct WonSession: Sendable {
    let token: String
    /// AM's own `Set-Cookie` values for it, as they came.
    let lines: [String]

    /// Nil where there is none that a cookie could carry.
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
