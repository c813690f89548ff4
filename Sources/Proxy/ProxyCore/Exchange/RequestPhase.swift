import Authorization
import HTTPCodec
import Interception

/// Takes a request from the outcome of its interceptors to its way out: code off the loop, turns at limits and a delay may come
/// in between.
struct RequestPhase: ~Copyable {
    enum State: CaseIterable {
        /// The interceptors have not judged the request of this attempt.
        case open
        /// Code works on the request, off the loop.
        case code
        /// The request waits for its turn at a limit.
        case limit
        /// An interceptor delays the request.
        case delay
        /// The request may go out.
        case passed
        /// Something else takes the request's place.
        case replaced

        /// The legal next states. Debug builds, including the tests, stop at any other.
        var next: Set<State> {
            switch self {
            case .open, .code: [.open, .code, .limit, .delay, .passed, .replaced]
            case .limit: [.open, .limit, .delay, .passed, .replaced]
            case .delay: [.open, .passed]
            // another attempt, or the end
            case .passed, .replaced: [.open]
            }
        }
    }

    /// What the exchange has to do.
    enum Step {
        /// Nothing: the request waits, or the call has ended.
        case nothing
        /// Send the request to its origin.
        case pass
        /// An interceptor has something else in the request's place, after so many milliseconds.
        indirect case replace(Replacement, after: Int)
        /// A limit refuses the request.
        indirect case refuse(ProxyError)
    }

    private(set) var state = State.open
    /// The limits that the request has to pass yet.
    private var passage: LimitPassage?

    /// Whether the request waits for this turn at a limit.
    func awaits(_ ticket: WaitingTicket) -> Bool { state == .limit && passage?.place?.ticket == ticket }

    private mutating func enter(_ next: State) {
        assert(state.next.contains(next), "a request phase may not go from \(state) to \(next)")
        state = next
    }

    /// Prepares for an attempt, or ends with the exchange. The request leaves the queue where it waits.
    mutating func begin() {
        enter(.open)
        if passage != nil { passage = nil }
    }

    /// Has the interceptors judge the request of an attempt.
    mutating func run(
        _ info: inout ExchangeInfo, _ attempt: inout Attempt, _ context: borrowing ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        begin()
        if attempt.head == nil, info.filters == nil, info.terms.hasClient,
            info.engine.plan.firstRequestMatch(info.received.head, info.classification) == nil
        {
            enter(.passed)
            return .pass
        }
        var head = attempt.sent(info.received.head)
        let outcome = info.intercept(&head, &attempt.body, out)
        return judged(head, outcome, &info, &attempt, context, &out)
    }

    /// Continues with the result of code.
    /// - Parameter head: the request that the code has worked on.
    mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, of head: RequestHead, _ info: inout ExchangeInfo,
        _ attempt: inout Attempt, _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        var head = head
        let outcome = info.resume(phase, answer, &head, &attempt.body, out)
        return judged(head, outcome, &info, &attempt, context, &out)
    }

    /// A filter decides what follows: the request waits no more.
    mutating func giveUpWait() {
        switch state {
        case .code, .limit, .delay:
            enter(.passed)
            passage = nil
        case .open, .passed, .replaced: break
        }
    }

    /// The interceptors have judged the request.
    /// - Parameter head: the request as they left it.
    mutating func judged(
        _ head: RequestHead, _ outcome: Outcome, _ info: inout ExchangeInfo, _ attempt: inout Attempt,
        _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        if let call = info.call, case .proceed = outcome.verdict {
            // this request carries a session or a password: it may go only to the configured place
            if let refusal = call.bound.refusal(of: head) {
                enter(.replaced)
                info.end(.notCalled(refusal), out.now)
                return .nothing
            }
            info.received.head = head
        }
        attempt.adopt(head, outcome, info.terms)
        if case .suspend(let suspension) = outcome.verdict {
            enter(.code)
            info.suspend(SuspendedPhase(.request(head), suspension, outcome), &out)
            return .nothing
        }
        guard let passage = LimitPassage(outcome, of: attempt.sent(info.received.head), info, context) else {
            return act(on: outcome, &info, &out)
        }
        self.passage = passage
        return pass(passage, &attempt.limitPlaces, &info, &out)
    }

    /// A turn has come, or a wait is over.
    mutating func resume(_ limitPlaces: inout [LimitPlace], _ info: inout ExchangeInfo, _ out: inout CommandBuffer)
        -> Step
    {
        if let passage { return pass(passage, &limitPlaces, &info, &out) }
        enter(.passed)
        return .pass
    }

    private mutating func pass(
        _ passage: LimitPassage, _ limitPlaces: inout [LimitPlace], _ info: inout ExchangeInfo,
        _ out: inout CommandBuffer
    ) -> Step {
        let before = passage.place
        switch passage.advance(&limitPlaces, &info.log, out.now) {
        case .through:
            self.passage = nil
            return act(on: passage.outcome, &info, &out)
        case .waits(let time):
            enter(.limit)
            if let place = passage.place, place !== before { out.commands.append(.awaitTicket(info.id, place.ticket)) }
            info.wait(.request, until: info.bounded(time), &out)
            return .nothing
        case .refused(let wish, let milliseconds):
            info.log.tell(.refused(interceptor: wish.interceptor, wish.policy.words), out.now)
            enter(.replaced)
            self.passage = nil
            // the request is refused, so free its places
            limitPlaces = []
            return .refuse(.limited(by: wish, milliseconds: milliseconds))
        }
    }

    private mutating func act(on outcome: Outcome, _ info: inout ExchangeInfo, _ out: inout CommandBuffer) -> Step {
        if let (replacement, wait) = info.log.replacement(by: outcome, out.now) {
            enter(.replaced)
            return .replace(replacement, after: wait)
        }
        if case .suspend(let suspension) = outcome.verdict {
            enter(.replaced)
            let reason = "its code is not done"
            return .replace(.abort(interceptor: suspension.call.interceptor, reason: reason), after: 0)
        }
        info.call?.tellLogin()
        let wait = info.log.drawn(outcome.delays, out.now)
        enter(wait > 0 ? .delay : .passed)
        guard wait > 0 else { return .pass }
        info.wait(.request, until: out.now + wait, &out)
        return .nothing
    }
}

extension LimitPassage {
    /// The limits that the outcome asks for; nil for none.
    /// - Parameter head: the request as it goes out.
    fileprivate convenience init?(
        _ outcome: Outcome, of head: RequestHead, _ info: borrowing ExchangeInfo, _ context: borrowing ClientContext
    ) {
        guard !outcome.limits.isEmpty, let store = info.stores(context).limits else { return nil }
        switch outcome.verdict {
        case .abort, .forbid: return nil
        case .proceed, .respond, .breaks, .suspend: break
        }
        let subject = Subject(
            host: head.host, action: info.classification?.action,
            sender: RequestSender(address: context.source.address, user: info.log.record.user))
        self.init(
            outcome, subject, in: store, shared: context.stores.limits ?? store, besides: info.calling?.places ?? [])
    }
}

extension ProxyError {
    /// A limit of an interceptor refused the request.
    static func limited(by wish: LimitWish, milliseconds: Int?) -> ProxyError {
        var error = ProxyError(
            "http_request_denied", status: wish.policy.status,
            "\(wish.owner) lets no more through than \(wish.policy.words)")
        // in whole seconds, rounded up; 1 when the time is unknown
        error.fields = [.init("Retry-After", "\(((milliseconds ?? 1) + 999) / 1000)")]
        return error
    }
}
