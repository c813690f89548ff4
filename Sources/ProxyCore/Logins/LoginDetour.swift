import Authorization
import HTTPCodec
import Interception

/// A detour that has a request go out with what a login wins, and has that renewed once where it is refused.
protocol LoginDetour: Detour {
    associatedtype Talk: LoginTalk

    var turn: LoginTurn<Talk> { get }
    var words: LoginWords { get }
    /// What its calls are for.
    var purpose: DetourCall.Purpose { get }

    func say(_ words: String) -> ExchangeMoment
    /// Nil where nothing is wanted, or nobody keeps it.
    func wanted(_ context: DetourContext) -> LoginTurn<Talk>.Wanted?
    /// What is told of one that was just won.
    func told(of gain: Talk.Gain, _ now: Int) -> String
    /// What it is.
    func win(_ gain: Talk.Gain) -> Wins
    /// The answer to a request that must not go out without; nil where it may.
    func denial(_ reason: String) -> DetourOrder?
    /// An answer with this head may refuse what went along.
    func mayRefuse(_ response: ResponseHead) -> Bool
    /// This one does.
    func refuses(_ response: HeldResponse) -> Bool
}

/// How a login detour speaks of what it is about.
struct LoginWords {
    /// What goes along, as "token".
    let what: String
    /// Who gets it, as "resource".
    let place: String
    /// What the next request does where this one could not, as "renews the token".
    let next: String
}

extension LoginDetour {
    typealias Refusal = SharedLogins<Talk.Gain>.Refusal

    /// More of an answer than this is no refusal.
    static var largestRefusal: Int { 64 << 10 }
    static var largestAnswer: Int { 256 << 10 }

    /// Others may wait for the same login.
    var endsWithClient: Bool { false }
    var isActive: Bool { turn.isActive }
    var limit: Int? { turn.limit }
    var keepsResponse: Bool { turn.kept != nil }
    var keptBytes: Int { turn.kept?.body.count ?? 0 }
    var maxResponseBytes: Int { Self.largestRefusal }
    var cookieLines: [String] { [] }

    func denial(_ reason: String) -> DetourOrder? { nil }
    func win(_ gain: Talk.Gain) -> Wins { .session }

    // MARK: the login

    /// - Returns: nil where the request may go out.
    func conclude(
        _ outcome: LoginTurn<Talk>.Outcome, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder? {
        switch outcome {
        case .found(let purpose): return done(purpose)
        case .won(let gain, let purpose):
            notes.append(say(told(of: gain, context.seconds)))
            notes.append(.won(win(gain)))
            return done(purpose)
        case .kept(let reason, let purpose):
            notes.append(say("\(reason); the \(words.what) goes along until its end"))
            return done(purpose)
        case .lacking(let reason, let purpose): return giveUp(reason, purpose, &notes)
        case .waitFor(let ticket, let time): return .waitFor(ticket, until: time)
        case .call(let call, let url, let heir):
            return .call(
                DetourCall(
                    call: call, bound: .url(url), purpose: purpose, maxResponseBytes: Self.largestAnswer,
                    keptBytes: context.body.count + keptBytes, heir: heir))
        }
    }

    /// What was wanted is there.
    private func done(_ purpose: LoginTurn<Talk>.Purpose) -> DetourOrder? {
        switch purpose {
        case .send: nil
        case .renew(let held): .again(held)
        }
    }

    /// There is none to be had.
    private func giveUp(
        _ reason: String, _ purpose: LoginTurn<Talk>.Purpose, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder? {
        turn.doesWithout = true
        if case .renew(let held) = purpose {
            notes.append(say("no \(words.what): \(reason); the \(words.place)'s answer was delivered"))
            return .giveBack(held)
        }
        if let denial = denial(reason) { return denial }
        notes.append(say("no \(words.what): \(reason); the request goes out without"))
        return nil
    }

    func called(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder {
        guard let wanted = wanted(context), let outcome = turn.called(response, wanted, context) else {
            return .deliver(response)
        }
        return conclude(outcome, context, &notes) ?? .proceed
    }

    func awaits(_ ticket: FlightTicket) -> Bool { turn.awaits(ticket) }

    func failed(_ reason: String, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard let wanted = wanted(context), let outcome = turn.failed(reason, wanted, context) else { return nil }
        return conclude(outcome, context, &notes) ?? .proceed
    }

    func woke(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard isActive, let wanted = wanted(context), let outcome = turn.woke(wanted, context) else { return nil }
        return conclude(outcome, context, &notes) ?? .proceed
    }

    // MARK: refusals

    private func refusal(_ context: DetourContext) -> Refusal? {
        turn.session.map { Refusal(generation: $0.generation, path: context.sent.path) }
    }

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        turn.isSent && !isActive && mayRefuse(response) ? Self.largestRefusal : nil
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder { considerRefusal(response, context, &notes) }

    func considerRefusal(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        guard turn.isSent, !isActive, refuses(response), let refusal = refusal(context), let wanted = wanted(context)
        else { return .deliver(response) }
        if turn.hasRenewed {
            wanted.store.change { $0.fruitless(wanted.key, refusal, context.time) }
            return .deliver(response)
        }
        turn.hasRenewed = true
        notes.append(say("the \(words.place) refuses the \(words.what) (\(response.head.status))"))
        guard context.isWhole else {
            drop(
                wanted, refusal, because: "the request's body was not kept, so it is not sent again", context, &notes)
            return .deliver(response)
        }
        return conclude(turn.ask(.renew(response), wanted, after: refusal, context), context, &notes)
            ?? .deliver(response)
    }

    /// Has the next who asks renew it.
    private func drop(
        _ wanted: LoginTurn<Talk>.Wanted, _ refusal: Refusal, because reason: String, _ context: DetourContext,
        _ notes: inout [ExchangeMoment]
    ) {
        let isDropped = wanted.store.change { $0.drop(wanted.key, refusal, context.time) }
        notes.append(say("\(reason); \(isDropped ? "the next request \(words.next)" : Talk.Gain.notAgain)"))
    }

    /// This one's answer is larger than is kept, and its client has to be content with it.
    func unheld(_ response: ResponseHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        guard turn.isSent, !isActive, refuses(HeldResponse(reason: .advice, head: response, limit: 0)),
            let refusal = refusal(context), let wanted = wanted(context)
        else { return }
        if turn.hasRenewed {
            return wanted.store.change { $0.fruitless(wanted.key, refusal, context.time) }
        }
        drop(
            wanted, refusal,
            because: "the \(words.place) refuses the \(words.what) by an answer that is larger than is kept", context,
            &notes)
    }

    /// The resource has taken what something refused before.
    func noteTaken(_ response: ResponseHead, _ context: DetourContext) {
        guard turn.isSent, turn.session?.isDoubted == true, response.status < 400, let refusal = refusal(context),
            let wanted = wanted(context)
        else { return }
        wanted.store.change { $0.taken(wanted.key, refusal) }
    }

    func abandon() { turn.rest() }
    func delivers(_ status: Int) {}
}
