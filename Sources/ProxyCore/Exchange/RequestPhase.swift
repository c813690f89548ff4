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
        /// Send the request to its origin.
        case pass(wasDelayed: Bool)
        /// Wait for code, with the phase that it is part of.
        case run(SuspendedPhase)
        /// Wait until that time, or for the turn of the ticket; nil for the ticket of before.
        indirect case queue(until: Int, WaitingTicket?)
        case delay(until: Int)
        /// An interceptor has something else in the request's place, after so many milliseconds.
        indirect case replace(Replacement, after: Int)
        /// The call may not go where interceptors led it.
        case notCalled(String)
        /// A limit refuses the request; with the milliseconds until another may pass, if they are known.
        indirect case refuse(LimitWish, milliseconds: Int?)
    }

    private(set) var state = State.open
    /// The limits that the request has to pass yet.
    private var passage: LimitPassage?

    var awaitsTurn: Bool { state == .limit }

    private mutating func enter(_ next: State) {
        assert(state.next.contains(next), "a request phase may not go from \(state) to \(next)")
        state = next
    }

    /// Begins an attempt, or ends with the exchange. The request leaves the queue where it waits.
    mutating func begin() {
        enter(.open)
        if passage != nil { passage = nil }
    }

    /// Has the interceptors judge the request of an attempt.
    /// - Parameter hasFilters: the exchange has filters.
    mutating func run(
        _ info: inout ExchangeInfo, _ attempt: inout Attempt, hasFilters: Bool, _ context: borrowing ClientContext,
        _ out: borrowing CommandBuffer
    ) -> Step {
        begin()
        if attempt.head == nil, !hasFilters, info.terms.hasClient,
            info.engine.plan.firstRequestMatch(info.received.head, info.classification) == nil
        {
            enter(.passed)
            return .pass(wasDelayed: false)
        }
        var head = attempt.sent(info.received.head)
        let outcome = info.intercept(&head, &attempt.body, out)
        return judged(head, outcome, &info, &attempt, context, out.now)
    }

    /// Continues with the result of code.
    /// - Parameter head: the request that the code has worked on.
    mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, of head: RequestHead, _ info: inout ExchangeInfo,
        _ attempt: inout Attempt, _ context: borrowing ClientContext, _ out: borrowing CommandBuffer
    ) -> Step {
        var head = head
        let outcome = info.resume(phase, answer, &head, &attempt.body, out)
        return judged(head, outcome, &info, &attempt, context, out.now)
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
        _ context: borrowing ClientContext, _ now: Int
    ) -> Step {
        if let call = info.call, case .proceed = outcome.verdict {
            // this request carries a session or a password: it may go only to the configured place
            if let refusal = call.bound.refusal(of: head) {
                enter(.replaced)
                return .notCalled(refusal)
            }
            info.received.head = head
        }
        attempt.adopt(head, outcome, info.terms)
        if case .suspend(let suspension) = outcome.verdict {
            enter(.code)
            return .run(SuspendedPhase(.request(head), suspension, outcome))
        }
        guard let passage = LimitPassage(outcome, of: attempt.sent(info.received.head), info, context) else {
            return act(on: outcome, &info.log, now)
        }
        self.passage = passage
        return pass(passage, &attempt.limitPlaces, &info.log, now)
    }

    /// A turn has come, or a wait is over.
    mutating func resume(_ limitPlaces: inout [LimitPlace], _ log: inout ExchangeLog, _ now: Int) -> Step {
        if let passage { return pass(passage, &limitPlaces, &log, now) }
        enter(.passed)
        return .pass(wasDelayed: true)
    }

    private mutating func pass(
        _ passage: LimitPassage, _ limitPlaces: inout [LimitPlace], _ log: inout ExchangeLog, _ now: Int
    ) -> Step {
        let before = passage.place
        switch passage.advance(&limitPlaces, &log, now) {
        case .through:
            self.passage = nil
            return act(on: passage.outcome, &log, now)
        case .waits(let time):
            enter(.limit)
            return .queue(until: time, passage.place === before ? nil : passage.place?.ticket)
        case .refused(let wish, let milliseconds):
            log.tell(.refused(interceptor: wish.interceptor, wish.policy.words), now)
            enter(.replaced)
            self.passage = nil
            // the request is refused, so free its places
            limitPlaces = []
            return .refuse(wish, milliseconds: milliseconds)
        }
    }

    private mutating func act(on outcome: Outcome, _ log: inout ExchangeLog, _ now: Int) -> Step {
        if let (replacement, wait) = log.replacement(by: outcome, now) {
            enter(.replaced)
            return .replace(replacement, after: wait)
        }
        if case .suspend(let suspension) = outcome.verdict {
            enter(.replaced)
            let reason = "its code is not done"
            return .replace(.abort(interceptor: suspension.call.interceptor, reason: reason), after: 0)
        }
        let wait = log.drawn(outcome.delays, now)
        enter(wait > 0 ? .delay : .passed)
        return wait > 0 ? .delay(until: now + wait) : .pass(wasDelayed: false)
    }
}

extension LimitPassage {
    /// The limits that the outcome asks for; nil for none.
    /// - Parameter head: the request as it goes out.
    fileprivate convenience init?(
        _ outcome: Outcome, of head: RequestHead, _ info: borrowing ExchangeInfo, _ context: borrowing ClientContext
    ) {
        guard !outcome.limits.isEmpty, let store = context.stores.limits else { return nil }
        if case .abort = outcome.verdict { return nil }
        let subject = Subject(
            host: head.host, action: info.classification?.action,
            sender: RequestSender(address: context.source.address, user: info.log.record.user))
        self.init(outcome, subject, in: store, besides: info.calling?.places ?? [])
    }
}

extension ProxyError {
    /// A limit of an interceptor refused the request.
    static func limited(by wish: LimitWish, milliseconds: Int?) -> ProxyError {
        var error = ProxyError(
            "http_request_denied", status: wish.policy.status,
            "interceptor \(wish.interceptor) lets no more through than \(wish.policy.words)")
        // in whole seconds, rounded up; 1 when the time is unknown
        error.fields = [.init("Retry-After", "\(((milliseconds ?? 1) + 999) / 1000)")]
        return error
    }
}
