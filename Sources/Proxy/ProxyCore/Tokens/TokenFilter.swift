import Authorization
import HTTPCodec
import Interception

/// Adds a bearer token to a request to a resource (RFC 6750). It fetches a missing token, and renews one once if the resource
/// refuses it.
final class TokenFilter: LoginFilter {
    typealias Sharing = SharedLogin<TokenConversation>

    private let source: TokenSource
    /// Provides the user's session if the request carries none.
    private let provided: ProvidedSession?
    let sharedLogin = Sharing()
    private var key: TokenKey?
    /// The user's session, if the token is obtained with it.
    private var session: SessionSource?
    /// A proof was repeated with the resource's nonce.
    private var hasNonced = false

    var words: LoginWords { LoginWords(what: "token", place: "resource", next: "renews the token") }

    init(_ source: TokenSource, _ provided: ProvidedSession? = nil) {
        self.source = source
        self.provided = provided
    }

    func say(_ words: String) -> LogEvent { .token(resource: source.name, words) }

    func told(of call: ServerCall, url: String) -> LogEvent {
        .tokenCall(call.action, resource: source.name, number: call.number, url: url)
    }

    // MARK: before the request goes out

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .ready: return prepare(&context) ?? .proceed
        case .leaving: show(in: &head, &context)
        }
        return .proceed
    }

    private func prepare(_ context: inout FilterContext) -> FilterAction? {
        guard !sharedLogin.doesWithout, !sharedLogin.isReady else { return nil }
        // a client's own Authorization field stays
        guard !context.sent.fields.contains(.authorization) else {
            sharedLogin.session = nil
            return nil
        }
        guard source.admits(context.sent) else {
            context.note(say("the request goes elsewhere than to the resource, so it goes out without a token"))
            return goWithout()
        }
        if let reason = context.unproven {
            context.note(say("\(reason) a token"))
            return goWithout()
        }
        // a page may use the tokens that it obtained itself
        let isOwn = source.settings.manner == .learned && context.stores.tokens != nil
        if !isOwn, let refusal = context.refusal(listed: source.settings.origins) {
            context.note(say("not added: \(refusal)"))
            return goWithout()
        }
        guard context.stores.tokens != nil else {
            context.note(
                say("a bearer token goes along (\(source.settings.manner.rawValue)), fetched where there is none"))
            return goWithout()
        }
        if key == nil, let lack = identify(context) {
            context.note(say("\(lack); the request goes out without a token"))
            return goWithout()
        }
        guard let wanted = wanted(context) else { return goWithout() }
        return conclude(sharedLogin.ask(.send, wanted, context), &context)
    }

    private func goWithout() -> FilterAction? {
        sharedLogin.doesWithout = true
        sharedLogin.session = nil
        return nil
    }

    /// Sets the holder of the token.
    /// - Returns: the missing fact, in words; nil if none is missing.
    private func identify(_ context: FilterContext) -> String? {
        let settings = source.settings
        guard settings.manner != .clientCredentials else {
            key = TokenKey(source)
            return nil
        }
        guard let client = context.client.client(settings.naming, context.request) else {
            return RequestSender.lack(settings.naming)
        }
        guard settings.manner == .code else {
            let winners = context.winners(settings.origins)
            key = context.stores.tokens?.changeTokens { $0.learned(for: source, client, winners: winners) }
            guard key == nil else { return nil }
            return context.refusal(listed: settings.origins).map { "not added: \($0)" }
                ?? "no token exchange of this client was seen"
        }
        if SessionSource.isAmbiguous(in: context.request, named: settings.server.cookie) {
            return
                "the request names several sessions, or one that may be read in several ways (\(settings.server.cookie))"
        }
        session = SessionSource.carried(by: context.request, named: settings.server.cookie) ?? provided?.source
        guard let session else {
            let cookie = settings.server.cookie
            return provided == nil
                ? "the request carries no session (cookie or header \(cookie))"
                : "the request carries no session (cookie or header \(cookie)), and Usher has none for it"
        }
        key = TokenKey(source, .client(client, session: TokenDigest.of(session.token)))
        return nil
    }

    func wanted(_ context: FilterContext) -> Sharing.Wanted? {
        guard let key, let store = context.stores.tokens else { return nil }
        let session = session
        return Sharing.Wanted(key: key, store: store.shared) {
            TokenConversation(
                key.source, past: store.change { $0.last(key) }, session: session, now: context.seconds)
        }
    }

    private func show(in head: inout RequestHead, _ context: inout FilterContext) {
        sharedLogin.rest()
        sharedLogin.isSent = false
        guard let session = sharedLogin.session, !head.fields.contains(.authorization), source.admits(head) else {
            return
        }
        let grant = session.value
        if let key = grant.key {
            guard
                let proof = PossessionProof.make(
                    key, for: head, token: grant.access, nonce: grant.resourceNonces[head.originText],
                    now: context.seconds)
            else {
                return context.note(say("no proof could be made for the token, so the request goes out without"))
            }
            head.fields.set("DPoP", proof)
            head.fields.add("Authorization", "DPoP \(grant.access)")
        } else {
            head.fields.add("Authorization", "Bearer \(grant.access)")
        }
        sharedLogin.isSent = true
    }

    func told(of grant: TokenGrant, _ now: Int) -> String {
        let lasts = grant.expires.map { "it lasts \($0 - now) s" } ?? "it tells no end"
        return "token \(grant.origin.rawValue); \(lasts)"
    }

    func win(_ grant: TokenGrant) -> Wins { grant.origin == .refreshed ? .refreshedToken : .token }

    // MARK: responses

    private func refusal(_ response: ResponseHead) -> TokenRefusal? {
        TokenRefusal(response, statuses: source.settings.refreshOn)
    }

    func mayRefuse(_ response: ResponseHead) -> Bool {
        switch refusal(response) {
        case .invalid?: true
        case .nonce?: wantsNonce
        case nil: false
        }
    }

    func refuses(_ response: HeldResponse) -> Bool { refusal(response.head) == .invalid }

    /// A repeated nonce error has another cause, so one proof is repeated.
    private var wantsNonce: Bool { !hasNonced && sharedLogin.session?.value.key != nil }

    func consider(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        guard sharedLogin.isSent, !isActive, refusal(response.head) == .nonce, wantsNonce else {
            return considerRefusal(response, &context)
        }
        hasNonced = true
        guard context.isWhole else { return .proceed }
        context.note(say("the resource wants its nonce in the proof; the request is sent with it"))
        return .again(response)
    }

    func headCame(_ response: inout ResponseHead, _ context: FilterContext) {
        guard sharedLogin.isSent else { return }
        noteTaken(response, context)
        guard let key, let session = sharedLogin.session, session.value.key != nil,
            let nonce = PossessionProof.nonce(response.fields)
        else { return }
        let origin = context.sent.originText
        if nonce == session.value.resourceNonces[origin] { return }
        var changed = session
        changed.value.resourceNonces[origin] = nonce
        sharedLogin.session = changed
        context.stores.tokens?.change {
            $0.renewed(key, generation: session.generation) { $0.resourceNonces[origin] = nonce }
        }
    }
}

extension TokenFilter {
    static let registration = FilterRegistration(.head, where: { $0.tokens != nil }) { setup in
        // a client's own Authorization field stays
        guard let source = setup.engine.tokens?.source(for: setup.request),
            !setup.request.fields.contains(.authorization), !isAuthorizing(setup.step)
        else { return }
        let covered = setup.covered.flatMap { $0.policy.server.url == source.settings.server.url ? $0 : nil }
        setup.add(
            TokenFilter(source, covered?.provided(for: setup.request)), keeping: setup.engine.settings.limits.keptBody)
    }

    /// Requests to AM obtain sessions and tokens, so they carry no existing ones.
    private static func isAuthorizing(_ step: Classifier.Step) -> Bool {
        switch step {
        case .none: false
        case .needsBody: true
        case .done(let found):
            switch found.action {
            case .authorize?, .pushedAuthorization?, .startAuthenticate?, .authenticate?, .resumeAuthenticate?: true
            default: TokenWatch.concerns(found.action)
            }
        }
    }
}
