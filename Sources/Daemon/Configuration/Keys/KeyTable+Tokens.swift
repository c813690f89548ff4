internal import Authorization
internal import Declaration
internal import Interception

extension KeyTable {
    static let tokens = KeyGroup(
        TokenSettings(resources: [], manner: .learned, server: AuthorizationServer(url: "", host: "")),
        .key(
            "resources", .oneOrMany(.text(.urlGlob)),
            "Globs over whole URLs, with scheme and host: the resources that get the token.", isRequired: true),
        .key(
            "bearer", .choice(TokenSettings.Manner.allCases.map(\.rawValue)),
            "The source of tokens. learned: token exchanges of clients. client_credentials: that grant. "
                + "code: the code flow with PKCE, with the user's session.", isRequired: true),
        .key(
            "am", .text(.serverURL),
            "The AM server that grants tokens: one of those in am. Optional if there is only one."),
        .key(
            "realm", .text(.realm),
            "The realm of the OAuth client. Without the key, the server's first; for learned tokens, any."),
        .key(
            "client", .object(tokenClient),
            "The OAuth client. Optional for learned tokens, whose clients use their own."),
        .key(
            "scope", \.scope, .oneOrMany(.text(.scope)), "The requested scopes. Without the key, AM's default."
        ) { $0.isEmptyList ? nil : $0.list.compactMap(\.text).joined(separator: " ") },
        .key(
            "redirect_uri", \.redirectURI, .text(.redirectURI),
            "The redirect URI of the code flow. Nothing has to listen there."
        ) { $0.text },
        .choice("consent", \.consent, "The answer if AM asks the user for consent in the code flow."),
        .key(
            "client_by", \.naming, .text(.clientNaming),
            "The identity of clients: proxy_user, address or header:NAME. "
                + "Without the key, proxy_user if clients.basic is set, else address."
        ) { $0.text.flatMap(TokenSettings.Naming.init) },
        .key(
            "refresh_before", \.refreshBefore, .duration(0...86_400_000),
            "Replace a token that ends within this time, or half its lifetime if that is less.", standard: "30s"
        ) { $0.number.map { $0 / 1000 } },
        .key(
            "refresh_on", \.refreshOn, .oneOrMany(.integer(400...499)),
            "Statuses of a resource after which the token is replaced.", standard: "[401]"
        ) { $0.list.compactMap(\.number) },
        .flag("dpop", \.isProven, "Bind tokens to a key that Usher creates, with a proof in each request (RFC 9449)."),
        .choice(
            "keep", \.keeping,
            "The storage of tokens. memory: in the process. sealed: encrypted in the state directory, over restarts."),
        .choice(
            "revoke", \.revocation,
            "Revocation of tokens at AM (RFC 7009). at_logout: if the client signs out. at_end: also at the "
                + "daemon's end."),
        .number("cool_down", \.coolDown, .duration(0...86_400_000), "The pause after AM refused a token."),
        .number("hold", \.hold, .duration(1...3_600_000), "The longest time that a request waits for the token."),
        .key(PageOrigins.key))

    static let tokenClient = ObjectShape(
        "token_client",
        Key("id", .text(.name), "The client_id.", isRequired: true),
        Key("secret", .text(.any), "The client secret, as a reference such as ${credential.NAME}."),
        Key(
            "auth", .choice(OAuthClient.Authentication.allCases.map(\.rawValue)),
            "Client authentication: basic, post, none, or tls (tls.client_certificates). "
                + "Without the key, basic if there is a secret, else none."))
}

extension KeyTable {
    static let state = ObjectShape(
        "state",
        Key(
            "key", .secret(.password),
            "The encryption key of tokens (tokens[].keep), as a reference to at least 32 bytes. "
                + "Without it, Usher creates one in the state directory."))
}

extension TextFormat {
    static let scope = TextFormat("a scope, such as openid") { text in
        // RFC 6749 §3.3
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    static let redirectURI = TextFormat(
        "the redirect URI as the client has it at AM, such as https://app.example.com/callback", isPublic: true
    ) { text in
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return false }
        return text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x23 }
    }

    static let clientNaming = TextFormat(
        "proxy_user, address, or header:NAME", pattern: "^(proxy_user|address|header:[A-Za-z0-9!#$%&'*+.^_`|~-]+)$",
        isPublic: true
    ) { text in
        guard case .header(let name)? = TokenSettings.Naming(text) else { return TokenSettings.Naming(text) != nil }
        return TextFormat.headerName.accepts(name)
    }
}
