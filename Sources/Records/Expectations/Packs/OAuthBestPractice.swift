internal import Formats
internal import Interception
internal import Journal

extension RulePack {
    /// OAuth and OpenID Connect, as RFC 9700 and its sources ask for them.
    static let oauthBestPractice = RulePack(
        "oauth-best-practice", "OAuth 2.0 and OpenID Connect as RFC 9700 wants them.",
        Rule(
            "pkce", "Each authorization request for a code has a code_challenge, with S256.", "RFC 9700 §2.1.1",
            when: .all([
                .action(.authorize, .pushedAuthorization), .parameter("response_type", "*code*"),
                .not(.parameter("request_uri", "*")),
            ]),
            each: .all([.parameter("code_challenge", "*"), .parameter("code_challenge_method", "S256")])),
        Rule(
            "state", "Each authorization request has a state, which no request before it had.", "RFC 6749 §10.12",
            FreshValue("state", needed: "*code*")),
        Rule(
            "nonce", "A nonce is new, and a request for an ID token in the redirect has one.", "OIDC Core §3.2.2.1",
            FreshValue("nonce", needed: "*id_token*")),
        Rule(
            "no-implicit", "No authorization request asks for an access token in the redirect.", "RFC 9700 §2.1.2",
            never: .all([
                .action(.authorize, .pushedAuthorization),
                .parameter("response_type", "token", "token *", "* token", "* token *"),
            ])),
        Rule(
            "no-secret-in-url", "No URL has a token, a client secret or a verifier, and none of AM's endpoints a code.",
            "RFC 9700 §4.3.2",
            never: .any(
                ["access_token", "refresh_token", "id_token", "client_secret", "code_verifier"].map {
                    .key(.query($0), "*")
                } + [.all([.action(.exchangeToken), .key(.query("code"), "*")])])),
        Rule(
            "no-secret-in-referer", "No Referer has a code, a state or a token.", "RFC 9700 §4.2",
            never: .key(
                .header("referer"), "*?code=*", "*&code=*", "*?state=*", "*&state=*",
                "*access_token=*", "*id_token=*")),
        Rule(
            "redirect-uri",
            "The redirect goes to the redirect_uri that was asked for, and the code's exchange names it.",
            "RFC 9700 §2.1", RedirectURI()),
        Rule("code-once", "A code is exchanged once.", "RFC 6749 §4.1.2", CodeOnce()),
        Rule(
            "no-password-grant", "No request has the grant type password.", "RFC 9700 §2.4",
            never: .all([
                .key(.method, "POST"), .key(.path, "*/access_token", "*/token"),
                .key(.form("grant_type"), "password"),
            ])),
        Rule(
            "refresh-rotation",
            "A public client's refresh gives a new refresh token, and the old one is not used again.",
            "RFC 9700 §4.14.2", RefreshRotation()),
        Rule(
            "tls", "Calls to AM and requests with a token go over TLS, except on this machine.", "RFC 6750 §5.3",
            when: .all([
                .any([.key(.action, "*"), .key(.header("authorization"), "Bearer *", "DPoP *")]),
                .not(.key(.host, "localhost", "*.localhost", "127.*", "::1")),
            ]),
            each: .key(.scheme, "https")))
}

/// A parameter of authorization requests that is new each time.
struct FreshValue: FlowRule {
    private let name: String
    /// The response types that need it.
    private let needed: String
    /// The values whose request has ended. Until then a login page may send the request again.
    private var spent = Recollection<String, FlowID>()

    init(_ name: String, needed: String) {
        self.name = name
        self.needed = needed
    }

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        let isPushed = exchange.action == .pushedAuthorization
        guard isPushed || exchange.action == .authorize, isPushed || exchange.parameter("request_uri") == nil else {
            return .other
        }
        guard let value = exchange.parameter(name), !value.isEmpty else {
            let type = exchange.parameter("response_type") ?? ""
            return Glob.matches(needed, type) ? .breaks("there is no \(name)") : .other
        }
        if let before = spent[value] { return .breaks("\(name) \(value) was used before, by flow \(before)") }
        let hasEnded = ["code", "error", "id_token", "access_token"].contains {
            exchange.locationParameter($0) != nil
        }
        if isPushed && exchange.isDone || hasEnded { spent[value] = exchange.id }
        return .fits
    }
}

/// Redirects go where the app asked for, and so does the code's exchange.
struct RedirectURI: FlowRule {
    /// The redirect_uri that a code or a request_uri was asked for with.
    private var asked = Recollection<String, String>()

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        switch exchange.action {
        case .pushedAuthorization?:
            guard let uri = exchange.parameter("redirect_uri"),
                let pushed = exchange.member("request_uri", of: .responseBody)?.text
            else { return .other }
            asked[pushed] = uri
            return .fits
        case .authorize?: return authorize(exchange)
        case .exchangeToken?:
            guard let code = exchange.form("code"), let uri = asked[code] else { return .other }
            let named = exchange.form("redirect_uri")
            return named == uri
                ? .fits : .breaks("redirect_uri is \(named ?? "missing"), and the code was asked for with \(uri)")
        default: return .other
        }
    }

    private mutating func authorize(_ exchange: StoredExchange) -> RuleFinding {
        let pushed = exchange.parameter("request_uri").flatMap { asked[$0] }
        guard let code = exchange.locationParameter("code"), let location = exchange.location,
            let uri = exchange.parameter("redirect_uri") ?? pushed
        else { return .other }
        asked[code] = uri
        let rest = location.dropFirst(uri.count)
        let isThere = location.hasPrefix(uri) && ["?", "#", "&"].contains(rest.first)
        return isThere ? .fits : .breaks("the redirect goes elsewhere than to \(uri)")
    }
}

struct CodeOnce: FlowRule {
    private var exchanged = Recollection<String, FlowID>()

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        guard exchange.action == .exchangeToken, let code = exchange.form("code") else { return .other }
        if let before = exchanged[code] { return .breaks("\(code) was exchanged before, by flow \(before)") }
        // without a response, the app may try again
        if exchange.status != 0 { exchanged[code] = exchange.id }
        return .fits
    }
}

struct RefreshRotation: FlowRule {
    /// The refresh tokens that were replaced.
    private var replaced = Recollection<String, FlowID>()

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        guard exchange.action == .refreshToken, let token = exchange.form("refresh_token") else { return .other }
        if let before = replaced[token] { return .breaks("\(token) was replaced before, by flow \(before)") }
        guard exchange.isDone else { return .other }
        let given = exchange.member("refresh_token", of: .responseBody)?.text
        if let given, given != token {
            replaced[token] = exchange.id
            return .fits
        }
        return isConfidential(exchange) ? .other : .breaks("the response has no new refresh_token")
    }

    /// A client that authenticates need not get another one.
    private func isConfidential(_ exchange: StoredExchange) -> Bool {
        exchange.form("client_secret") != nil || exchange.form("client_assertion") != nil
            || FieldLines(exchange.flow[.request]).text("authorization") != nil
    }
}
