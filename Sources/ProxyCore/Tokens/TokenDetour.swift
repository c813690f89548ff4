import Authorization
import HTTPCodec
import Interception

/// Has a bearer token sent along with a request to a resource: fetches one where there is none, and renews it once where the
/// resource will have it no more.
final class TokenDetour: LoginDetour {
    typealias Turn = LoginTurn<TokenConversation>

    private let source: TokenSource
    let turn = Turn()
    private var key: TokenKey?
    /// The user's, where a token is had by it.
    private var session: SessionSource?
    /// An exchange has one token renewed, not more: one that is refused as soon as it was won is refused for another reason.
    private var hasRenewed = false
    /// A proof was made once more with the nonce that the resource told.
    private var hasNonced = false
    /// The token went along with the attempt under way.
    private var isSent = false
    /// There is no token to be had, and the request goes out without.
    private var doesWithout = false

    /// More of an answer than this is no refusal of a token.
    private static let largestRefusal = 64 << 10
    private static let largestAnswer = 256 << 10

    init(_ source: TokenSource) { self.source = source }

    var maxResponseBytes: Int { Self.largestRefusal }

    private func say(_ words: String) -> ExchangeMoment { .token(resource: source.name, words) }

    // MARK: before the request goes out

    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard !doesWithout, !turn.isReady else { return nil }
        // who shows something itself means it
        guard !context.sent.fields.contains(.authorization) else {
            turn.session = nil
            return nil
        }
        guard source.admits(context.sent) else {
            notes.append(say("the request goes elsewhere than to the resource, so it goes out without a token"))
            return goWithout()
        }
        guard let store = context.tokens.store else {
            notes.append(
                say("a bearer token goes along (\(source.settings.manner.rawValue)), fetched where there is none"))
            return goWithout()
        }
        if key == nil, let lack = identify(context) {
            notes.append(say("\(lack); the request goes out without a token"))
            return goWithout()
        }
        guard let wanted = wanted(context) else { return goWithout() }
        // who asks for a client that nobody knows takes no place
        if source.settings.manner == .learned, store.change({ $0.last(wanted.key) }) == nil {
            notes.append(say("no token exchange of this client was seen; the request goes out without a token"))
            return goWithout()
        }
        return conclude(turn.ask(.send, wanted, context), context, &notes)
    }

    private func goWithout() -> DetourOrder? {
        doesWithout = true
        turn.session = nil
        return nil
    }

    /// Settles whose token it is.
    /// - Returns: what is missing for that.
    private func identify(_ context: DetourContext) -> String? {
        let settings = source.settings
        guard settings.manner != .clientCredentials else {
            key = TokenKey(source)
            return nil
        }
        guard let client = context.tokens.sender.client(settings.naming, context.request) else {
            return RequestSender.lack(settings.naming)
        }
        guard settings.manner == .code else {
            key = TokenKey(source, client: client)
            return nil
        }
        session = SessionSource.carried(by: context.request, named: settings.server.cookie)
        guard let session else {
            return "the request carries no session (cookie or header \(settings.server.cookie))"
        }
        key = TokenKey(source, client: client, session: TokenDigest.of(session.token))
        return nil
    }

    func wanted(_ context: DetourContext) -> Turn.Wanted? {
        guard let key, let store = context.tokens.store else { return nil }
        let session = session
        return Turn.Wanted(key: key, store: store) {
            TokenConversation(
                key.source, past: store.change { $0.last(key) }, session: session, now: context.seconds)
        }
    }

    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        turn.rest()
        isSent = false
        guard let session = turn.session, !head.fields.contains(.authorization), source.admits(head) else { return }
        let grant = session.gain
        if let key = grant.key {
            guard
                let proof = PossessionProof.make(
                    key, for: head, token: grant.access, nonce: grant.resourceNonce, now: context.seconds)
            else {
                return notes.append(say("no proof could be made for the token, so the request goes out without"))
            }
            head.fields.set("DPoP", proof)
            head.fields.add("Authorization", "DPoP \(grant.access)")
        } else {
            head.fields.add("Authorization", "Bearer \(grant.access)")
        }
        isSent = true
    }

    // MARK: the token

    func conclude(
        _ outcome: Turn.Outcome, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder? {
        switch outcome {
        case .found(let purpose): return done(purpose)
        case .won(let grant, let purpose):
            notes.append(say(words(grant, context.seconds)))
            return done(purpose)
        case .kept(let reason, let purpose):
            notes.append(say("\(reason); the token goes along until its end"))
            return done(purpose)
        case .lacking(let reason, let purpose): return giveUp(reason, purpose, &notes)
        case .wait(let time): return .wait(until: time)
        case .call(let call, let url):
            return .call(
                DetourCall(
                    call: call, bound: .url(url), purpose: .token(resource: source.name),
                    maxResponseBytes: Self.largestAnswer, keptBytes: context.body.count + keptBytes))
        }
    }

    private func words(_ grant: TokenGrant, _ now: Int) -> String {
        let lasts = grant.expires.map { "it lasts \($0 - now) s" } ?? "it tells no end"
        return "token \(grant.origin.rawValue); \(lasts)"
    }

    private func giveUp(_ reason: String, _ purpose: Turn.Purpose, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        doesWithout = true
        if case .renew(let held) = purpose {
            notes.append(say("no token: \(reason); the resource's answer was delivered"))
            return .giveBack(held)
        }
        notes.append(say("no token: \(reason); the request goes out without"))
        return nil
    }

    // MARK: answers

    private func refusal(_ response: ResponseHead) -> TokenRefusal? {
        guard isSent, !isActive else { return nil }
        switch TokenRefusal(response, statuses: source.settings.refreshOn) {
        case .invalid?: return hasRenewed ? nil : .invalid
        // a nonce that is refused as well is no matter of nonces
        case .nonce?: return hasNonced || turn.session?.gain.key == nil ? nil : .nonce
        case nil: return nil
        }
    }

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        refusal(response) == nil ? nil : Self.largestRefusal
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        guard let refusal = refusal(response.head) else { return .deliver(response) }
        if refusal == .nonce {
            hasNonced = true
            guard context.isWhole else { return .deliver(response) }
            notes.append(say("the resource wants its nonce in the proof; the request is sent with it"))
            return .again(response)
        }
        hasRenewed = true
        notes.append(say("the resource refuses the token (\(response.head.status))"))
        guard context.isWhole, let wanted = wanted(context), let session = turn.session else {
            drop(context)
            notes.append(
                say("the request's body was not kept, so it is not sent again; the next request renews the token"))
            return .deliver(response)
        }
        let outcome = turn.ask(
            .renew(response), wanted, after: .init(generation: session.generation, path: context.sent.path), context)
        return conclude(outcome, context, &notes) ?? .deliver(response)
    }

    /// Has the next who asks renew it.
    private func drop(_ context: DetourContext) {
        guard let key, let session = turn.session else { return }
        context.tokens.store?.change { $0.drop(key, generation: session.generation) }
    }

    func answered(_ response: inout ResponseHead, _ context: DetourContext) {
        guard isSent, let key, let session = turn.session, let store = context.tokens.store else { return }
        if hasRenewed, response.status == 401 {
            let refusal = TokenLedger.Refusal(generation: session.generation, path: context.sent.path)
            store.change { $0.fruitless(key, refusal, context.time) }
        }
        guard session.gain.key != nil, let nonce = PossessionProof.nonce(response.fields),
            nonce != session.gain.resourceNonce
        else { return }
        var grant = session.gain
        grant.resourceNonce = nonce
        turn.session = .init(gain: grant, generation: session.generation)
        store.change { $0.renewed(grant, key, generation: session.generation) }
    }

    func unheld(_ response: ResponseHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        guard refusal(response) == .invalid else { return }
        drop(context)
        notes.append(
            say("the resource refuses the token by an answer that is larger than is kept; the next request renews it"))
    }
}
