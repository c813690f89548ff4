internal import HTTPCodec

/// Faults of an authorization server: AM, OAuth 2.0.
extension FaultCatalogue {
    /// The description that AM gives for any grant that it does not accept.
    private static let grant = "The provided access grant is invalid, expired, or revoked."

    private static func invalidGrant(_ words: String = grant) -> [any RequestEdit] {
        [Refusal(.oauth(400, "invalid_grant", words))]
    }

    static let tokens: [NamedFault] = [
        NamedFault(
            "oauth-invalid-grant", .token, request: invalidGrant(),
            sees: "400, invalid_grant: no such code or refresh token",
            remedy: "forget the tokens, and authorize anew"),
        NamedFault(
            "oauth-code-used", FaultScope(.exchangeToken), request: invalidGrant(),
            sees: "400, invalid_grant: the code was used before",
            remedy: "exchange a code once, without retries; authorize anew"),
        NamedFault(
            "oauth-code-expired", FaultScope(.exchangeToken), request: invalidGrant("Authorization code expired."),
            sees: "400, invalid_grant: the code came too late",
            remedy: "authorize anew"),
        NamedFault(
            "oauth-pkce-mismatch", FaultScope(.exchangeToken), request: invalidGrant(),
            sees: "400, invalid_grant: the code_verifier does not match",
            remedy: "keep one verifier for each authorization; authorize anew"),
        NamedFault(
            "oauth-refresh-reused", FaultScope(.refreshToken), request: invalidGrant(),
            sees: "400, invalid_grant: the refresh token was used before",
            remedy: "refresh one at a time; forget the tokens, and authorize anew"),
        NamedFault(
            "oauth-token-expired", FaultScope(.userInfo),
            request: [
                Refusal(
                    .oauth(401, "invalid_token", "The access token is invalid."),
                    field: (
                        "WWW-Authenticate",
                        "Bearer realm=\"/\",error=\"invalid_token\",error_description=\"The access token is invalid.\""
                    ))
            ],
            sees: "401 with a Bearer challenge and without an advice",
            remedy: "refresh the token, once, and ask again"),
    ]
}
