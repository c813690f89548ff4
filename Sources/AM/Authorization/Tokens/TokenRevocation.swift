internal import Formats
public import HTTPCodec
internal import Interception

/// Revokes an unused token at AM (RFC 7009). Prefers the refresh token, because AM then revokes its access tokens too.
public struct TokenRevocation: Sendable {
    public let call: ServerCall
    /// The URL of the endpoint.
    public let url: String

    /// Nil if the token's client is unknown or the URL is invalid.
    public init?(_ grant: TokenGrant, of source: TokenSource) {
        let configured = source.settings.client
        let isShown = source.settings.manner == .learned && configured?.authentication != .tls
        guard let client = isShown ? grant.client ?? configured : configured,
            let url = try? source.settings.server.oauthURL(
                .revoke, "token/revoke", realm: grant.realm ?? source.realm)
        else { return nil }
        var form = QueryText("")
        form.add("token", grant.refresh ?? grant.access)
        form.add("token_type_hint", grant.refresh == nil ? "access_token" : "refresh_token")
        var fields: [(name: String, value: String)] = []
        if let credentials = client.show(in: &form) { fields.append(("Authorization", credentials)) }
        let draft = CallDraft(
            url: url, type: "application/x-www-form-urlencoded", body: Array(form.text.utf8), fields: fields,
            action: .revokeToken, number: 1)
        guard let call = try? draft.call() else { return nil }
        self.call = call
        self.url = url
    }

    /// The reason why a token was not revoked; nil if it was.
    public static func fault(_ head: ResponseHead, body: [UInt8]) -> String? {
        guard !(200..<300).contains(head.status) else { return nil }
        let word = TokenAnswer.error(try? JSONValue(parsing: body))
        return "AM responded with \(head.status)\(word.map { " (\($0))" } ?? "")"
    }
}
