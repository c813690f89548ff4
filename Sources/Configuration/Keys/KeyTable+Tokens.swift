internal import Authorization
internal import Declaration
internal import Interception

extension KeyTable {
    static let tokens: [Key] = [
        Key(
            "resources", .oneOrMany(.text(.urlGlob)),
            "Globs over whole URLs, each with its scheme and host: who gets the token.", isRequired: true),
        Key(
            "bearer", .choice(TokenSettings.Manner.allCases.map(\.rawValue)),
            "Where tokens come from: learned from exchanges that clients make themselves, client_credentials, or the code "
                + "flow with PKCE, run with the user's session.", isRequired: true),
        Key(
            "am", .text(.serverURL),
            "The server that grants them: one of those under am. May be left out where there is one."),
        Key(
            "realm", .text(.realm),
            "The realm of the OAuth client; without the key the server's first, and any for what is learned."),
        Key(
            "client", .object(.tokenClient),
            "The OAuth client. Where it is left out, clients that are learned from show their own."),
        Key("scope", .oneOrMany(.text(.scope)), "What is asked for; without the key, what AM gives by itself."),
        Key("redirect_uri", .text(.redirectURI), "Where the code flow ends; nobody has to listen there."),
        Key(
            "consent", .choice(TokenSettings.Consent.allCases.map(\.rawValue)),
            "What is said in the user's place where AM asks for consent in the code flow.", standard: "deny"),
        Key(
            "client_by", .text(.clientNaming),
            "What tells clients apart: proxy_user, address or header:NAME. Without the key proxy_user where clients.basic is "
                + "set, and address elsewhere."),
        Key(
            "refresh_before", .duration(0...86_400_000),
            "A token that lasts no longer than this is replaced before it is sent; half its life at the most.",
            standard: "30s"),
        Key(
            "refresh_on", .oneOrMany(.integer(400...499)), "Statuses by which a resource says that a token is over.",
            standard: "[401]"),
        Key(
            "dpop", .boolean, "Tokens are bound to a key that Usher makes, and each request proves it (RFC 9449).",
            standard: "false"),
        Key(
            "keep", .choice(TokenSettings.Keeping.allCases.map(\.rawValue)),
            "Where tokens are kept: in memory, where they go with the process, or sealed in the state directory, so that a daemon "
                + "that begins anew goes on with them.", standard: "memory"),
        Key(
            "revoke", .choice(TokenSettings.Revocation.allCases.map(\.rawValue)),
            "When AM is told that tokens are of use to nobody (RFC 7009): never, when the client signs out, or then and when the "
                + "daemon ends.", standard: "never"),
        Key(
            "cool_down", .duration(0...86_400_000), "How long what AM refused is not asked for again.",
            standard: "60s"),
        Key("hold", .duration(1...3_600_000), "How long a request waits for the token.", standard: "30s"),
        PageOrigins.key,
    ]

    static let tokenClient: [Key] = [
        Key("id", .text(.name), "Its client_id.", isRequired: true),
        Key("secret", .text(.any), "Its secret; a reference such as ${credential.NAME}."),
        Key(
            "auth", .choice(OAuthClient.Authentication.allCases.map(\.rawValue)),
            "How it shows who it is: basic, post, none, or tls by the certificate of tls.client_certificates. Without the key "
                + "basic where there is a secret, and none elsewhere."),
    ]
}

extension KeyTable {
    static let state: [Key] = [
        Key(
            "key", .secret(.password),
            "What tokens are sealed with (tokens[].keep), as a reference to 32 bytes at least; without the key one is made in the "
                + "state directory.")
    ]
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
