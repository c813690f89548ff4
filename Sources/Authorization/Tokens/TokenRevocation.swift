internal import Formats
public import HTTPCodec
internal import Interception

/// Tells AM that nobody has use for a token any more (RFC 7009). The refresh token where there is one: AM ends what came of
/// it along with it.
public struct TokenRevocation: Sendable {
    public let call: ServerCall
    /// Where it goes.
    public let url: String

    /// Nil where it is not known which client the token is of, or there is no URL to be made.
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

    /// Why a token was not revoked, by this answer; nil where it was.
    public static func fault(_ head: ResponseHead, body: [UInt8]) -> String? {
        guard !(200..<300).contains(head.status) else { return nil }
        let word = TokenAnswer.error(try? JSONValue(parsing: body))
        return "AM answered with \(head.status)\(word.map { " (\($0))" } ?? "")"
    }
}
