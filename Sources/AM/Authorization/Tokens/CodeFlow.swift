internal import Formats
internal import HTTPCodec
internal import Interception

/// The authorization code flow with a session (RFC 6749 §4.1, RFC 7636). The redirect is read and never followed.
struct CodeFlow: Sendable {
    let source: TokenSource
    let session: SessionSource
    let client: OAuthClient
    let proof = CodeProof()
    let state = RandomText.make()
    /// The thumbprint of the key that binds the tokens (RFC 9449 §10).
    let thumbprint: String?
    private var hasConsented = false

    enum Step {
        case call(CallDraft)
        case code(String)
        case failed(LoginFault)
    }

    init(_ source: TokenSource, _ session: SessionSource, _ client: OAuthClient, thumbprint: String?) {
        self.source = source
        self.session = session
        self.client = client
        self.thumbprint = thumbprint
    }

    private var parameters: QueryText {
        var query = QueryText("")
        query.add("response_type", "code")
        query.add("client_id", client.id)
        query.add("redirect_uri", source.settings.redirectURI)
        if let scope = source.settings.scope { query.add("scope", scope) }
        query.add("state", state)
        query.add("code_challenge", proof.challenge)
        query.add("code_challenge_method", "S256")
        if let thumbprint { query.add("dpop_jkt", thumbprint) }
        return query
    }

    private var fields: [(name: String, value: String)] {
        var cookies = CookieText("\(source.settings.server.cookie)=\(session.token)")
        if let affinity = session.affinity { cookies.set(SessionSource.affinityCookie, affinity) }
        return [("Accept-API-Version", "protocol=1.0,resource=2.1"), ("Cookie", cookies.text)]
    }

    /// - Parameter url: the URL of the authorize endpoint.
    func first(_ url: String) -> CallDraft {
        let mark = url.utf8.contains(0x3F) ? "&" : "?"
        return CallDraft(
            method: "GET", url: url + mark + parameters.text, fields: fields, action: .authorize, number: 1)
    }

    /// The request that gives the user's consent, after AM's consent page (docs/transactions.md#tokens).
    private func consent(_ url: String) -> CallDraft {
        var form = parameters
        form.add("decision", "allow")
        form.add("csrf", session.token)
        return CallDraft(
            url: url, type: "application/x-www-form-urlencoded", body: Array(form.text.utf8), fields: fields,
            action: .authorize, number: 2)
    }

    mutating func answered(_ head: ResponseHead, _ body: [UInt8], _ url: String) -> Step {
        switch head.status {
        case 301, 302, 303, 307, 308: return redirected(head.fields["Location"] ?? "")
        case 200 where hasConsented: return .failed(.broken("AM asks for consent once more"))
        case 200:
            guard source.settings.consent == .allow else {
                return .failed(
                    LoginFault(
                        reason: "AM asks the user for consent; consent: allow would give it", isRefusal: true))
            }
            hasConsented = true
            return .call(consent(url))
        default:
            let word = TokenAnswer.error(try? JSONValue(parsing: body))
            return .failed(LoginFault(authorization: "\(head.status)\(word.map { " (\($0))" } ?? "")"))
        }
    }

    private func redirected(_ location: String) -> Step {
        let place = source.settings.redirectURI
        // compare bytes: a "?" followed by a combining mark is a different Character
        guard location.utf8.starts(with: place.utf8) else {
            return .failed(
                LoginFault(
                    reason: "AM redirects elsewhere than to redirect_uri: the session is over, or does not suffice",
                    isRefusal: true))
        }
        let rest = location.utf8.dropFirst(place.utf8.count)
        guard rest.first == (place.utf8.contains(0x3F) ? 0x26 : 0x3F) else {
            return .failed(.broken("AM redirects to redirect_uri without a code"))
        }
        let answer = QueryText(String(Substring(rest.dropFirst().prefix { $0 != 0x23 })))
        guard answer.values(named: "state") == [state] else {
            return .failed(.broken("the state that came with the code is another one"))
        }
        if answer["error"] != nil {
            let word = TokenAnswer.error(["error": .string(answer["error"] ?? "")])
            return .failed(LoginFault(authorization: word ?? "an error"))
        }
        let codes = answer.values(named: "code")
        guard codes.count == 1, let code = codes.first, !code.isEmpty else {
            return .failed(.broken("AM redirects to redirect_uri without a code"))
        }
        return .code(code)
    }
}

extension LoginFault {
    fileprivate init(authorization what: String) {
        self.init(reason: "AM refused the authorization with \(what)", isRefusal: true)
    }
}
