import Authorization
import HTTPCodec
import Interception

/// A filter that adds the result of a login to a request, and renews it once if it is refused.
protocol LoginFilter: Filter {
    associatedtype Talk: LoginTalk

    var sharedLogin: SharedLogin<Talk> { get }
    var words: LoginWords { get }
    /// The interceptor that logs in, if there is one. It does not apply to the login's calls.
    var interceptor: String? { get }

    func say(_ words: String) -> LogEvent
    /// The event to log for a call.
    func told(of call: ServerCall, url: String) -> LogEvent
    /// The wanted credential; nil if the request needs none or there is no store.
    func wanted(_ context: FilterContext) -> SharedLogin<Talk>.Wanted?
    /// The log's description of a new credential.
    func told(of value: Talk.Value, _ now: Int) -> String
    /// The kind of credential, for the record of the exchange.
    func win(_ value: Talk.Value) -> Wins
    /// The response to a request that must not go out without a credential; nil if it may.
    func denial(_ reason: String) -> FilterAction?
    /// A response with this head may refuse the credential.
    func mayRefuse(_ response: ResponseHead) -> Bool
    /// The response refuses the credential.
    func refuses(_ response: HeldResponse) -> Bool
    /// Handles the head of a response.
    func headCame(_ head: inout ResponseHead, _ context: FilterContext)
    /// Handles a response that may refuse the credential.
    func consider(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction
}

/// The words by which a login filter describes itself in the log.
struct LoginWords {
    /// The credential, as in "token".
    let what: String
    /// Its recipient, as in "resource".
    let place: String
    /// The next request's action after a failure here, as in "renews the token".
    let next: String
}

extension LoginFilter {
    typealias Refusal = CredentialLedger<Talk.Value>.Refusal

    /// A larger response, in bytes, counts as no refusal.
    static var largestRefusal: Int { 64 << 10 }
    static var largestAnswer: Int { 256 << 10 }

    var hold: FilterHold? {
        guard isActive else { return nil }
        return FilterHold(
            isActive: true, keepsResponse: sharedLogin.kept != nil, bytes: sharedLogin.kept?.body.count ?? 0,
            limit: sharedLogin.limit)
    }

    var isActive: Bool { sharedLogin.isActive }
    var interceptor: String? { nil }

    func denial(_ reason: String) -> FilterAction? { nil }
    func win(_ value: Talk.Value) -> Wins { .session }

    // MARK: the login

    /// - Returns: nil if the request may go out.
    func conclude(_ outcome: SharedLogin<Talk>.Outcome, _ context: inout FilterContext) -> FilterAction? {
        switch outcome {
        case .found(let purpose): return done(purpose)
        case .won(let value, let purpose):
            context.note(say(told(of: value, context.seconds)))
            context.note(.won(win(value)))
            return done(purpose)
        case .kept(let reason, let purpose):
            context.note(say("\(reason); the \(words.what) goes along until its end"))
            return done(purpose)
        case .lacking(let reason, let purpose): return giveUp(reason, purpose, &context)
        case .waitFor(let ticket, let time): return .waitFor(ticket, until: time)
        case .call(let call, let url, let detachedCall):
            return .call(
                FilterCall(
                    call, to: .url(url), maxResponseBytes: Self.largestAnswer,
                    keptBytes: context.body.count + (sharedLogin.kept?.body.count ?? 0), issuer: interceptor,
                    detachedCall: detachedCall
                ) { [self] in told(of: call, url: $0) })
        }
    }

    /// Continues with the credential.
    private func done(_ purpose: SharedLogin<Talk>.Purpose) -> FilterAction? {
        switch purpose {
        case .send: nil
        case .renew(let held): .again(held)
        }
    }

    /// Continues without a credential.
    private func giveUp(
        _ reason: String, _ purpose: SharedLogin<Talk>.Purpose, _ context: inout FilterContext
    ) -> FilterAction? {
        sharedLogin.doesWithout = true
        if case .renew(let held) = purpose {
            context.note(say("no \(words.what): \(reason); the \(words.place)'s response was delivered"))
            return .giveBack(held)
        }
        if let denial = denial(reason) { return denial }
        context.note(say("no \(words.what): \(reason); the request goes out without"))
        return nil
    }

    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? {
        guard isActive, let wanted = wanted(context) else { return nil }
        let outcome =
            switch event {
            case .answered(let response): sharedLogin.called(response, wanted, context)
            case .failed(let reason): sharedLogin.failed(reason, wanted, context)
            case .woke: sharedLogin.woke(wanted, context)
            }
        return outcome.map { conclude($0, &context) ?? .proceed }
    }

    func end(_ end: FilterEnd) { if case .decided = end { sharedLogin.rest() } }

    // MARK: refusals

    private func refusal(_ context: FilterContext) -> Refusal? {
        sharedLogin.session.map { Refusal(generation: $0.generation, path: context.sent.path) }
    }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .head: headCame(&head, context)
        case .offered: if sharedLogin.isSent, !isActive, mayRefuse(head) { return .hold(upTo: Self.largestRefusal) }
        case .whole(let response): return consider(response, &context)
        case .tooLarge: unheld(head, &context)
        }
        return .proceed
    }

    func consider(
        _ response: HeldResponse, _ context: inout FilterContext
    ) -> FilterAction { considerRefusal(response, &context) }

    func considerRefusal(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        guard sharedLogin.isSent, !isActive, refuses(response), let refusal = refusal(context),
            let wanted = wanted(context)
        else { return .proceed }
        if sharedLogin.hasRenewed {
            wanted.store.change { $0.fruitless(wanted.key, refusal, context.time) }
            return .proceed
        }
        sharedLogin.hasRenewed = true
        context.note(say("the \(words.place) refuses the \(words.what) (\(response.head.status))"))
        guard context.isWhole else {
            drop(
                wanted, refusal, because: "the request's body was not kept, so it is not sent again", &context)
            return .proceed
        }
        return conclude(sharedLogin.ask(.renew(response), wanted, after: refusal, context), &context)
            ?? .proceed
    }

    /// Has the next request renew the credential.
    private func drop(
        _ wanted: SharedLogin<Talk>.Wanted, _ refusal: Refusal, because reason: String, _ context: inout FilterContext
    ) {
        let isDropped = wanted.store.change { $0.drop(wanted.key, refusal, context.time) }
        context.note(say("\(reason); \(isDropped ? "the next request \(words.next)" : Talk.Value.notAgain)"))
    }

    /// Handles a refusal that is too large to hold: the client gets it, and the next request renews the credential.
    private func unheld(_ response: ResponseHead, _ context: inout FilterContext) {
        guard sharedLogin.isSent, !isActive, refuses(HeldResponse(reason: .advice, head: response, limit: 0)),
            let refusal = refusal(context), let wanted = wanted(context)
        else { return }
        if sharedLogin.hasRenewed {
            return wanted.store.change { $0.fruitless(wanted.key, refusal, context.time) }
        }
        drop(
            wanted, refusal,
            because: "the \(words.place) refuses the \(words.what) with a response that is too large to keep", &context)
    }

    /// Notes that the resource accepted a credential that was in doubt.
    func noteTaken(_ response: ResponseHead, _ context: FilterContext) {
        guard sharedLogin.isSent, sharedLogin.session?.isDoubted == true, response.status < 400,
            let refusal = refusal(context),
            let wanted = wanted(context)
        else { return }
        wanted.store.change { $0.taken(wanted.key, refusal) }
    }
}
