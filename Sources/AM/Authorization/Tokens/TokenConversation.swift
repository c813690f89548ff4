internal import Formats
public import HTTPCodec
internal import Interception
internal import TLSEngine

/// Obtains one token from AM: with a refresh token, with client credentials, or by the code flow. A state machine that takes
/// responses and returns the next step; no I/O, no clock.
public struct TokenConversation: Sendable {
    public typealias Command = LoginCommand<TokenGrant>

    private enum Stage {
        case idle
        case refreshing
        case authorizing(CodeFlow, url: String)
        /// The last request, which grants the token or fails.
        case exchanging
    }

    private let source: TokenSource
    private let session: SessionSource?
    private var past: TokenGrant?
    /// The key to bind tokens to; nil without DPoP.
    private let key: PrivateKey?
    private var nonce: String?
    private var stage = Stage.idle
    private var calls = 0
    private var now = 0
    /// The last request to the token endpoint, to repeat it with a nonce.
    private var asked: (form: QueryText, action: Action)?
    private var hasNonced = false

    /// - Parameters:
    /// - past: the existing grant, expired or about to expire.
    /// - session: the user's session for the code flow.
    /// - now: seconds since 1970.
    public init(_ source: TokenSource, past: TokenGrant?, session: SessionSource? = nil, now: Int) {
        self.source = source
        self.session = session
        self.past = past
        self.now = now
        key = source.settings.isProven ? past?.key ?? (try? PrivateKey.makeP256()) : nil
        nonce = past?.serverNonce
    }

    /// True if the call may use up a refresh token.
    public var spends: Bool { if case .refreshing = stage { true } else { false } }

    public mutating func begin() -> Command {
        if source.settings.isProven, key == nil { return .failed(.broken("no key could be made to bind a token to")) }
        guard let refresh = past?.refresh else { return start() }
        stage = .refreshing
        var form = QueryText("")
        form.add("grant_type", "refresh_token")
        form.add("refresh_token", refresh)
        return ask(form, .refreshToken)
    }

    /// Obtains a token without a refresh token.
    private mutating func start() -> Command {
        switch source.settings.manner {
        case .learned: return .failed(LoginFault(reason: "no token exchange of this client was seen", isRefusal: false))
        case .clientCredentials:
            stage = .exchanging
            var form = QueryText("")
            form.add("grant_type", "client_credentials")
            if let scope = source.settings.scope { form.add("scope", scope) }
            return ask(form, .exchangeToken)
        case .code: return authorize()
        }
    }

    private mutating func authorize() -> Command {
        guard let session, let client = source.settings.client else {
            return .failed(
                .broken("the request carries no session (cookie or header \(source.settings.server.cookie))"))
        }
        let flow = CodeFlow(source, session, client, thumbprint: key.flatMap(PossessionProof.thumbprint))
        do throws(HTTPFault) {
            let url = try source.settings.server.oauthURL(.authorize, "authorize", realm: source.realm)
            stage = .authorizing(flow, url: url)
            return send(flow.first(url), to: url)
        } catch {
            return .failed(.broken("the URL of the authorize endpoint cannot be made: \(error.explanation)"))
        }
    }

    // MARK: answers

    /// Handles the response to the last call.
    /// - Parameter now: seconds since 1970.
    public mutating func answered(_ head: ResponseHead, body: [UInt8], now: Int) -> Command {
        self.now = now
        switch stage {
        case .idle: return .failed(.broken("a response came without a request"))
        case .authorizing(var flow, let url):
            let step = flow.answered(head, body, url)
            stage = .authorizing(flow, url: url)
            switch step {
            case .call(let draft): return send(draft, to: url)
            case .failed(let fault): return .failed(fault)
            case .code(let code): return redeem(code, flow)
            }
        case .refreshing, .exchanging: return answeredByEndpoint(head, body)
        }
    }

    private mutating func redeem(_ code: String, _ flow: CodeFlow) -> Command {
        stage = .exchanging
        var form = QueryText("")
        form.add("grant_type", "authorization_code")
        form.add("code", code)
        form.add("redirect_uri", source.settings.redirectURI)
        form.add("code_verifier", flow.proof.verifier)
        return ask(form, .exchangeToken)
    }

    private mutating func answeredByEndpoint(_ head: ResponseHead, _ body: [UInt8]) -> Command {
        if key != nil, let told = PossessionProof.nonce(head.fields) {
            nonce = told
            let isWanted = TokenAnswer.error(try? JSONValue(parsing: body)) == "use_dpop_nonce"
            if isWanted, head.status == 400 || head.status == 401, !hasNonced, let asked {
                hasNonced = true
                return ask(asked.form, asked.action)
            }
        }
        do throws(LoginFault) {
            let answer = try TokenAnswer(head, body)
            return won(answer)
        } catch {
            // the refresh token is no longer valid, so obtain a token from the start
            if case .refreshing = stage, error.isRefusal, source.settings.manner != .learned {
                hasNonced = false
                past = nil
                return start()
            }
            return .failed(error)
        }
    }

    private func won(_ answer: TokenAnswer) -> Command {
        let type = key == nil ? "bearer" : "dpop"
        guard answer.type == type else {
            let found = ["bearer", "dpop"].contains(answer.type) ? "a \(answer.type) token" : "a token of another type"
            let remedy = key == nil ? "" : "; the client at AM has to ask for proofs (dpop: true)"
            return .failed(.broken("AM granted \(found) where a \(type) token was to be\(remedy)"))
        }
        var isRefreshed = false
        if case .refreshing = stage { isRefreshed = true }
        var grant = answer.grant(isRefreshed ? .refreshed : .fetched, now: now)
        if isRefreshed {
            // RFC 6749 §6: without a new refresh token, the old one stays valid
            grant.refresh = grant.refresh ?? past?.refresh
            grant.client = past?.client
            grant.realm = past?.realm
        }
        grant.key = key
        grant.serverNonce = nonce
        if let past { grant.resourceNonces = past.resourceNonces }
        return .won(grant)
    }

    // MARK: calls

    /// The client for AM. For learned tokens, the observed client authentication takes precedence over a configured client id
    /// alone.
    private var client: OAuthClient? {
        guard let configured = source.settings.client else { return past?.client }
        if source.settings.manner == .learned, configured.authentication == .none { return past?.client ?? configured }
        return configured
    }

    /// Sends a request to the token endpoint.
    private mutating func ask(_ form: QueryText, _ action: Action) -> Command {
        asked = (form, action)
        guard let client else {
            return .failed(.broken("it is not known which client the token is of"))
        }
        do throws(HTTPFault) {
            let realm = past?.realm ?? source.realm
            let url = try source.settings.server.oauthURL(.accessToken, "access_token", realm: realm)
            return send(try draft(url, form, client, action), to: url)
        } catch {
            return .failed(.broken("the URL of the token endpoint cannot be made: \(error.explanation)"))
        }
    }

    private func draft(_ url: String, _ form: QueryText, _ client: OAuthClient, _ action: Action) throws(HTTPFault)
        -> CallDraft
    {
        var form = form
        var fields: [(name: String, value: String)] = []
        if let credentials = client.show(in: &form) { fields.append(("Authorization", credentials)) }
        if let key {
            let head = try RequestHead(method: "POST", url: url)
            if let proof = PossessionProof.make(key, for: head, nonce: nonce, now: now) {
                fields.append(("DPoP", proof))
            }
        }
        return CallDraft(
            url: url, type: "application/x-www-form-urlencoded", body: Array(form.text.utf8), fields: fields,
            action: action, number: 0)
    }

    private mutating func send(_ draft: CallDraft, to url: String) -> Command {
        calls += 1
        var draft = draft
        draft.number = calls
        do throws(HTTPFault) {
            return .send(try draft.call(), url: url)
        } catch {
            return .failed(.broken("no request can be made for \(url): \(error.explanation)"))
        }
    }
}
