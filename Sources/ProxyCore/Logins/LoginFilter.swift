import Authorization
import HTTPCodec
import Interception

/// A filter that has a request go out with what a login wins, and has that renewed once where it is refused.
protocol LoginFilter: Filter {
    associatedtype Talk: LoginTalk

    var turn: LoginTurn<Talk> { get }
    var words: LoginWords { get }
    /// The interceptor that logs in, where one does: it has no part in the calls.
    var interceptor: String? { get }

    func say(_ words: String) -> ExchangeMoment
    /// What is told of a call.
    func told(of call: ServerCall, url: String) -> ExchangeMoment
    /// Nil where nothing is wanted, or nobody keeps it.
    func wanted(_ context: FilterContext) -> LoginTurn<Talk>.Wanted?
    /// What is told of one that was just won.
    func told(of gain: Talk.Gain, _ now: Int) -> String
    /// What it is.
    func win(_ gain: Talk.Gain) -> Wins
    /// The answer to a request that must not go out without; nil where it may.
    func denial(_ reason: String) -> FilterAction?
    /// An answer with this head may refuse what went along.
    func mayRefuse(_ response: ResponseHead) -> Bool
    /// This one does.
    func refuses(_ response: HeldResponse) -> Bool
    /// The head of a response has come.
    func headCame(_ head: inout ResponseHead, _ context: FilterContext)
    /// A response that may be a refusal is here.
    func consider(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction
}

/// How a login filter speaks of what it is about.
struct LoginWords {
    /// What goes along, as "token".
    let what: String
    /// Who gets it, as "resource".
    let place: String
    /// What the next request does where this one could not, as "renews the token".
    let next: String
}

extension LoginFilter {
    typealias Refusal = SharedLogins<Talk.Gain>.Refusal

    /// More of an answer than this is no refusal.
    static var largestRefusal: Int { 64 << 10 }
    static var largestAnswer: Int { 256 << 10 }

    var hold: FilterHold? {
        guard isActive else { return nil }
        return FilterHold(
            isActive: true, keepsResponse: turn.kept != nil, bytes: turn.kept?.body.count ?? 0, limit: turn.limit)
    }

    var isActive: Bool { turn.isActive }
    var interceptor: String? { nil }

    func denial(_ reason: String) -> FilterAction? { nil }
    func win(_ gain: Talk.Gain) -> Wins { .session }

    // MARK: the login

    /// - Returns: nil where the request may go out.
    func conclude(_ outcome: LoginTurn<Talk>.Outcome, _ context: inout FilterContext) -> FilterAction? {
        switch outcome {
        case .found(let purpose): return done(purpose)
        case .won(let gain, let purpose):
            context.note(say(told(of: gain, context.seconds)))
            context.note(.won(win(gain)))
            return done(purpose)
        case .kept(let reason, let purpose):
            context.note(say("\(reason); the \(words.what) goes along until its end"))
            return done(purpose)
        case .lacking(let reason, let purpose): return giveUp(reason, purpose, &context)
        case .waitFor(let ticket, let time): return .waitFor(ticket, until: time)
        case .call(let call, let url, let heir):
            return .call(
                FilterCall(
                    call, to: .url(url), maxResponseBytes: Self.largestAnswer,
                    keptBytes: context.body.count + (turn.kept?.body.count ?? 0), issuer: interceptor, heir: heir
                ) { [self] in told(of: call, url: $0) })
        }
    }

    /// What was wanted is there.
    private func done(_ purpose: LoginTurn<Talk>.Purpose) -> FilterAction? {
        switch purpose {
        case .send: nil
        case .renew(let held): .again(held)
        }
    }

    /// There is none to be had.
    private func giveUp(
        _ reason: String, _ purpose: LoginTurn<Talk>.Purpose, _ context: inout FilterContext
    ) -> FilterAction? {
        turn.doesWithout = true
        if case .renew(let held) = purpose {
            context.note(say("no \(words.what): \(reason); the \(words.place)'s answer was delivered"))
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
            case .answered(let response): turn.called(response, wanted, context)
            case .failed(let reason): turn.failed(reason, wanted, context)
            case .woke: turn.woke(wanted, context)
            }
        return outcome.map { conclude($0, &context) ?? .proceed }
    }

    func end(_ end: FilterEnd) { if case .decided = end { turn.rest() } }

    // MARK: refusals

    private func refusal(_ context: FilterContext) -> Refusal? {
        turn.session.map { Refusal(generation: $0.generation, path: context.sent.path) }
    }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .head: headCame(&head, context)
        case .offered: if turn.isSent, !isActive, mayRefuse(head) { return .hold(upTo: Self.largestRefusal) }
        case .whole(let response): return consider(response, &context)
        case .tooLarge: unheld(head, &context)
        }
        return .proceed
    }

    func consider(
        _ response: HeldResponse, _ context: inout FilterContext
    ) -> FilterAction { considerRefusal(response, &context) }

    func considerRefusal(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        guard turn.isSent, !isActive, refuses(response), let refusal = refusal(context), let wanted = wanted(context)
        else { return .proceed }
        if turn.hasRenewed {
            wanted.store.change { $0.fruitless(wanted.key, refusal, context.time) }
            return .proceed
        }
        turn.hasRenewed = true
        context.note(say("the \(words.place) refuses the \(words.what) (\(response.head.status))"))
        guard context.isWhole else {
            drop(
                wanted, refusal, because: "the request's body was not kept, so it is not sent again", &context)
            return .proceed
        }
        return conclude(turn.ask(.renew(response), wanted, after: refusal, context), &context)
            ?? .proceed
    }

    /// Has the next who asks renew it.
    private func drop(
        _ wanted: LoginTurn<Talk>.Wanted, _ refusal: Refusal, because reason: String, _ context: inout FilterContext
    ) {
        let isDropped = wanted.store.change { $0.drop(wanted.key, refusal, context.time) }
        context.note(say("\(reason); \(isDropped ? "the next request \(words.next)" : Talk.Gain.notAgain)"))
    }

    /// This one's answer is larger than is kept, and its client has to be content with it.
    private func unheld(_ response: ResponseHead, _ context: inout FilterContext) {
        guard turn.isSent, !isActive, refuses(HeldResponse(reason: .advice, head: response, limit: 0)),
            let refusal = refusal(context), let wanted = wanted(context)
        else { return }
        if turn.hasRenewed {
            return wanted.store.change { $0.fruitless(wanted.key, refusal, context.time) }
        }
        drop(
            wanted, refusal,
            because: "the \(words.place) refuses the \(words.what) by an answer that is larger than is kept", &context)
    }

    /// The resource has taken what something refused before.
    func noteTaken(_ response: ResponseHead, _ context: FilterContext) {
        guard turn.isSent, turn.session?.isDoubted == true, response.status < 400, let refusal = refusal(context),
            let wanted = wanted(context)
        else { return }
        wanted.store.change { $0.taken(wanted.key, refusal) }
    }
}
