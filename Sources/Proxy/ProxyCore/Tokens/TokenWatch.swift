import Authorization
import HTTPCodec
import Interception

/// Watches a client get and revoke tokens at AM: its later requests carry its tokens until it gives them up. If Usher has the
/// same refresh token, only one of the two renews it at a time.
final class TokenWatch: Filter {
    private enum Stage {
        case watching
        /// Another exchange renews the token of the client's request.
        case waiting(WaitingPlace<TokenGrant>)
        /// The client renews the token; all others wait.
        case renewing(TokenKey, CredentialFetch<TokenGrant>)
    }

    private let policy: TokenPolicy
    /// The Action of the request as the client sent it; LOGOUT also for a request that may be one.
    private let classification: Classification?
    private var stage = Stage.watching
    private var limit: Int?
    /// The refresh token that replaced the client's in the request.
    private var replacement: String?
    /// The request that goes out; its response may hold tokens for the client.
    private var sent: ObservedExchange?

    /// Milliseconds that a renewal may take after it was sent, by the client or after its client has left.
    private static let longest = 60_000

    init(_ policy: TokenPolicy, watching classification: Classification?) {
        self.policy = policy
        self.classification = classification
    }

    /// The Actions by which clients get tokens and give them up.
    static func concerns(_ action: Action?) -> Bool {
        switch action {
        case .exchangeToken?, .refreshToken?, .revokeToken?, .logout?, .endSession?: true
        default: false
        }
    }

    var hold: FilterHold? {
        if case .waiting = stage { FilterHold(isActive: true, limit: limit) } else { nil }
    }

    // MARK: filter

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .ready: return prepare(&context) ?? .proceed
        case .leaving: leave(with: head, &context)
        }
        return .proceed
    }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .head: if !(200..<300).contains(head.status) { refused(head.status, context) }
        case .offered:
            guard case .grant? = sent?.kind, !policy.learned.isEmpty, (200..<300).contains(head.status) else { break }
            return .hold(upTo: ObservedExchange.largestAnswer)
        case .whole(let response): learn(response, &context)
        case .tooLarge:
            guard case .grant? = sent?.kind, let source = policy.learned.first else { break }
            spoil(context)
            context.note(say(source, "the response of the token endpoint is too large to examine"))
        }
        return .proceed
    }

    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? {
        if case .woke = event { .proceed } else { nil }
    }

    func end(_ end: FilterEnd) {
        switch end {
        case .decided: stage = .watching
        case .delivered: break
        case .cutShort:
            // the result is unknown, so the refresh token counts as spent
            guard case .renewing(_, let fetch) = stage, sent != nil else { return }
            stage = .watching
            fetch.lose { $0.refresh = nil }
        }
    }

    private func say(_ source: TokenSource, _ words: String) -> LogEvent {
        .token(resource: source.name, words)
    }

    // MARK: the clients

    /// The entries that learn from exchanges with this server, and the clients that each identifies.
    private func learners(_ exchange: ObservedExchange, _ context: FilterContext) -> [(TokenSource, TokenClient)] {
        policy.learned.compactMap { source in
            guard source.server == exchange.server else { return nil }
            return context.client.client(source.settings.naming, context.request).map { (source, $0) }
        }
    }

    private func signers(_ exchange: ObservedExchange, _ learners: [(TokenSource, TokenClient)]) -> TokenLedger.Signers
    {
        var clients: [TokenClient] = []
        for (_, client) in learners where !clients.contains(client) { clients.append(client) }
        return TokenLedger.Signers(server: exchange.server, clients: clients)
    }

    private func observe(_ context: FilterContext, _ head: RequestHead) -> ObservedExchange? {
        ObservedExchange(
            head, body: context.isWhole ? context.body : [], classification, at: policy.servers)
    }

    // MARK: before the request goes out

    /// Replaces a refresh token that Usher spent for the client with the newest one. It waits for a renewal that is under way.
    private func prepare(_ context: inout FilterContext) -> FilterAction? {
        if case .renewing = stage { return nil }
        stage = .watching
        guard context.isWhole, let store = context.stores.tokens, let exchange = observe(context, context.sent),
            let token = exchange.token
        else { return nil }
        let learners = learners(exchange, context)
        let signers = signers(exchange, learners)
        guard let source = learners.first?.0,
            let key = store.changeTokens({ $0.find(token, source, signers) })
        else { return nil }
        var (answer, obstacle) = store.change { ($0.claim(key, context.time), $0.obstacle(key)) }
        var place: WaitingPlace<TokenGrant>?
        if case .wait = answer {
            place = WaitingPlace(store.shared, obstacle.what)
            // the renewal may have ended before the place was taken
            (answer, obstacle) = store.change { ($0.claim(key, context.time), $0.obstacle(key)) }
        }
        switch answer {
        case .fetch(let number):
            let fetch = CredentialFetch<TokenGrant>(store.shared, key, number)
            if case .grant = exchange.kind {
                // no other exchange spends the token while AM takes its time
                fetch.goesOn(until: context.now + Self.longest)
                stage = .renewing(key, fetch)
            }
        case .wait:
            if limit == nil { limit = context.now + key.hold + Self.longest }
            if let limit, let place, context.now < limit {
                stage = .waiting(place)
                return .waitFor(place.ticket, until: min(obstacle.until, limit))
            }
        case .use, .failed, .full: break
        }
        limit = nil
        guard let newest = store.change({ $0.last(key)?.refresh }), newest != token, newest != replacement else {
            return nil
        }
        replacement = newest
        context.note(
            say(source, "the client's refresh token was spent here, and the one that came for it takes its place"))
        return .replace(context.request, body: exchange.with(newest))
    }

    /// Stops sending the tokens that a client gives up, whatever AM's response is.
    private func leave(with head: RequestHead, _ context: inout FilterContext) {
        sent = observe(context, head)
        guard let sent, let store = context.stores.tokens else { return }
        let learners = learners(sent, context)
        let signers = signers(sent, learners)
        var known: TokenSource?
        switch sent.kind {
        case .grant: return
        case .revocation(let token):
            if let source = learners.first?.0, store.changeTokens({ $0.revoke(token, source, signers) }) {
                known = source
            }
        case .end:
            let asking = learners.first { $0.0.settings.revocation != .never }?.0
            let granted = asking.map { source in store.changeTokens { $0.signedIn(source, signers) } } ?? []
            if let source = learners.first?.0, store.changeTokens({ $0.signOut(signers) }) { known = source }
            revoke(granted, &context)
        }
        for source in policy.sources where source.settings.manner == .code && source.server == sent.server {
            guard let client = context.client.client(source.settings.naming, context.request) else { continue }
            let gone = store.change {
                $0.forget { key, grant in
                    guard key.source == source, case .client(client, _) = key.holder else { return false }
                    return sent.ends(grant)
                }
            }
            if !gone.isEmpty { known = source }
            if source.settings.revocation != .never {
                revoke(gone.map { ($0.value, source) }, &context)
            }
        }
        if let known { context.note(say(known, "the client gives its token up, and it is forgotten")) }
    }

    /// Has AM revoke tokens that the client may not know.
    private func revoke(_ tokens: [(grant: TokenGrant, source: TokenSource)], _ context: inout FilterContext) {
        guard let first = tokens.first, let backgroundCalls = context.stores.backgroundCalls else { return }
        backgroundCalls(tokens.compactMap { BackgroundCall(revoking: $0.grant, of: $0.source) })
        context.note(say(first.source, "the client signs out, and AM is told that its token is of use to nobody"))
    }

    // MARK: responses

    private func refused(_ status: Int, _ context: FilterContext) {
        guard case .renewing(_, let fetch) = stage else { return }
        // the next attempt claims the token anew
        stage = .watching
        fetch.fail(LoginFault(toClient: status), context.time)
    }

    private func learn(_ response: HeldResponse, _ context: inout FilterContext) {
        guard let sent, let store = context.stores.tokens else { return }
        guard
            let grant = sent.grant(
                response.head, body: response.body, sent: replacement, now: context.seconds)
        else {
            spoil(context)
            return
        }
        let learners = learners(sent, context).filter { $0.0.takes(grant) }
        // an entry that stores tokens comes first, as another may revoke them at the end
        guard let source = (learners.first { $0.0.settings.keeping == .sealed } ?? learners.first)?.0 else { return }
        guard let page = context.initiator.winner(response.head) else {
            spoil(context)
            context.note(say(source, Self.notLearned))
            return
        }
        var past: (key: TokenKey, fetch: Int)?
        if case .renewing(let key, let fetch) = stage { past = (key, fetch.number) }
        let signers = signers(sent, learners)
        store.changeTokens { $0.learn(grant, source, signers, page: page, renewing: past, context.time) }
        stage = .watching
        for (source, _) in learners { context.note(say(source, "the client's own token goes along from here on")) }
    }

    static let notLearned =
        "not learned: a page of another site had it asked for, and AM's response does not let it read that"

    /// Marks the token as spent: the client got a response that Usher could not read.
    private func spoil(_ context: FilterContext) {
        guard case .renewing(let key, _) = stage else { return }
        stage = .watching
        context.stores.tokens?.change { $0.change(key) { $0.refresh = nil } }
    }

}

extension LoginFault {
    fileprivate init(toClient status: Int) {
        self.init(
            reason: "AM responded to the client's own refresh with \(status)",
            isRefusal: (400..<500).contains(status) && status != 408 && status != 429)
    }
}

extension TokenWatch {
    static let registration = FilterRegistration(
        .classified, where: { $0.tokens != nil }, need: { $0.action == .revokeToken ? Classifier.bodyPeek : 0 }
    ) { setup in
        guard let tokens = setup.engine.tokens, concerns(setup.watched?.action) else { return }
        setup.add(TokenWatch(tokens, watching: setup.watched))
    }
}
