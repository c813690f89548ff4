import Authorization
import HTTPCodec
import Interception

/// Takes a response from its head to what the client gets: the interceptors before the step-up, the filters, the other
/// interceptors, and the delivery. `ExchangeStage` holds what it holds.
struct ResponsePhase: ~Copyable {
    /// What the exchange has to do.
    enum Step {
        /// Nothing: the phase waits, or has what it needs.
        case nothing
        /// Relay the bytes to the client.
        case passes
        /// Carry out what a filter decided about the response.
        indirect case act(FilterAction)
        indirect case fail(ProxyError)
    }

    /// What follows when the interceptors let the response pass.
    enum Passage {
        /// Ask the filters how much of the response they need.
        case offer
        /// The response is whole: ask the filters about it.
        case offerWhole([UInt8])
        /// The filters cannot have the response whole: relay it.
        case unheld(HeldResponse, EditedBody.Arrival)
        /// Send the client the head and the part of the body that is here; nil if the body was not held.
        case relay([UInt8]?)
        /// Send the client the whole response.
        case deliver([UInt8])
        /// Switch to the protocol that the origin agreed to.
        case switchProtocol
    }

    /// The head of the response, as far as it is edited.
    var head = ResponseHead()
    /// The framing of the body as received.
    private(set) var framing = BodyFraming.none
    var delivery = Delivery()

    // MARK: the head is here

    mutating func begin(
        _ framing: BodyFraming, _ info: inout ExchangeInfo, _ attempt: inout Attempt,
        _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        self.framing = framing
        filtered(.head, &info, attempt, context, out)
        guard info.engine.plan.preparesResponses, info.terms.isGuarded,
            let reads = reads(at: .beforeStepUp, &info, attempt, out)
        else { return offer(&info, &attempt, context, &out) }
        let limit = info.engine.settings.limits.keptBody
        if reads, fits(limit) { return hold(.preparation, upTo: limit, &info, out) }
        return edit(.overLimit, at: .beforeStepUp, then: .offer, &info, &attempt, context, &out)
    }

    /// Asks the filters how much of the response they need.
    private mutating func offer(
        _ info: inout ExchangeInfo, _ attempt: inout Attempt, _ context: borrowing ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        let wanted = filtered(.offered, &info, attempt, context, out)?.held
        let kept = info.engine.settings.limits.keptBody
        if let call = info.call { return hold(.call, upTo: min(call.maxResponseBytes, kept), &info, out) }
        if let wanted { return hold(.advice, upTo: min(wanted, kept), &info, out) }
        if info.classification?.tellsFlow(in: head) == true {
            return hold(.flow, upTo: min(Classifier.bodyPeek, kept), &info, out)
        }
        guard info.engine.plan.hasResponseRules || !attempt.wishes.ending.isPlain else {
            info.enter(.delivering, out.now)
            delivery.begin(&head, framing, attempt, info.filters, &info.log, &out)
            return .nothing
        }
        if info.engine.plan.readsResponseBodies, reads(at: .delivery, &info, attempt, out) == true, fits(kept) {
            return hold(.edit, upTo: kept, &info, out)
        }
        return edit(.overLimit, at: .delivery, then: .relay(nil), &info, &attempt, context, &out)
    }

    /// Holds the response until it is whole.
    private func hold(
        _ reason: HeldResponse.Reason, upTo limit: Int, _ info: inout ExchangeInfo, _ out: borrowing CommandBuffer
    ) -> Step {
        info.enter(.holding(HeldResponse(reason: reason, head: head, limit: limit)), out.now)
        return .nothing
    }

    /// Whether an interceptor that applies changes or reads the body; nil if none applies.
    private func reads(
        at stage: ResponseStage, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt,
        _ out: borrowing CommandBuffer
    ) -> Bool? {
        let sent = attempt.sent(info.received.head)
        guard
            let first = info.engine.plan.firstResponseMatch(head, request: sent, info.classification, at: stage)
        else { return nil }
        return info.readsBody(of: head, to: attempt, from: first, at: stage, out.seconds)
    }

    /// Whether the body may fit the limit: its length is unknown or no larger.
    private func fits(_ limit: Int) -> Bool {
        if case .length(let length) = framing { length <= UInt64(limit) } else { true }
    }

    /// The origin agrees to another protocol.
    mutating func switchProtocol(
        _ info: inout ExchangeInfo, _ attempt: inout Attempt, _ context: borrowing ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        edit(.whole([]), at: .delivery, then: .switchProtocol, &info, &attempt, context, &out)
    }

    // MARK: the body

    /// Handles body bytes from the origin.
    mutating func bodyCame(
        _ bytes: Span<UInt8>, _ info: inout ExchangeInfo, _ attempt: inout Attempt,
        _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        if case .pacing(let paced) = info.stage.state {
            paced.append(bytes)
            letThrough(paced, &info, attempt, &out)
            return .nothing
        }
        guard let size = info.stage.hold(bytes) else { return .passes }
        guard !size.fits || !info.mayKeep(context, attempt, beside: size.count),
            case .holding(let held) = info.stage.state
        else { return .nothing }
        return exceeds(held, size.fits ? .noRoom : .overLimit, &info, &attempt, context, &out)
    }

    /// The response does not fit.
    private mutating func exceeds(
        _ held: HeldResponse, _ arrival: EditedBody.Arrival, _ info: inout ExchangeInfo, _ attempt: inout Attempt,
        _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        switch held.reason {
        case .call:
            if case .noRoom = arrival { return .fail(.noRoom("the response cannot be kept")) }
            return .fail(
                .badResponse(
                    "the response is larger than the limit (authorization.limits.answer, limits.buffered_body)"))
        case .preparation:
            return edit(arrival, at: .beforeStepUp, then: .unheld(held, arrival), &info, &attempt, context, &out)
        case .advice: return relay(unexamined: held, arrival, &info, &attempt, context, &out)
        case .flow, .edit: return relay(held, arrival, &info, &attempt, context, &out)
        }
    }

    /// Relays a response that the filters cannot have whole.
    private mutating func relay(
        unexamined held: HeldResponse, _ arrival: EditedBody.Arrival, _ info: inout ExchangeInfo,
        _ attempt: inout Attempt, _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        var words = "the response is too large to examine"
        if case .noRoom = arrival { words = "limits.buffered leaves no room to examine the response" }
        info.log.tell(.unread(words), out.now)
        filtered(.tooLarge, &info, attempt, context, out)
        return relay(held, arrival, &info, &attempt, context, &out)
    }

    /// Relays a response of which a part is here.
    private mutating func relay(
        _ held: HeldResponse, _ arrival: EditedBody.Arrival, _ info: inout ExchangeInfo, _ attempt: inout Attempt,
        _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        edit(arrival, at: .delivery, then: .relay(held.body), &info, &attempt, context, &out)
    }

    /// The origin's response is complete.
    /// - Parameter trailers: trailer fields, each line with its line end.
    mutating func ended(
        trailers: [UInt8], _ info: inout ExchangeInfo, _ attempt: inout Attempt, _ context: borrowing ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        // the origin is done, so its places at limits are free, however long the rest takes
        if !attempt.limitPlaces.isEmpty { attempt.limitPlaces = [] }
        switch info.stage.state {
        case .delivering:
            info.release(reusable: attempt.isStillBound(context), &out)
            delivery.end(trailers: trailers, &out)
            info.end(.complete, out.now)
        case .pacing(let paced):
            info.release(reusable: attempt.isStillBound(context), &out)
            paced.end(trailers: trailers)
            letThrough(paced, &info, attempt, &out)
        case .holding(let held):
            info.release(
                reusable: info.terms.isCall ? !attempt.isBinding : attempt.isStillBound(context), &out)
            info.stage.enter(.deciding)
            return whole(held, &info, &attempt, context, &out)
        default: break
        }
        return .nothing
    }

    // MARK: the response is whole

    private mutating func whole(
        _ held: HeldResponse, _ info: inout ExchangeInfo, _ attempt: inout Attempt, _ context: borrowing ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        switch held.reason {
        case .call: break
        case .flow, .edit: info.classification?.learnFlow(from: held, into: info.stores(context).flows)
        case .preparation:
            return edit(
                .whole(held.body), at: .beforeStepUp, then: .offerWhole(held.body), &info, &attempt, context, &out)
        case .advice:
            info.classification?.learnFlow(from: held, into: info.stores(context).flows)
            return consider(held, &info, &attempt, context, &out)
        }
        return deliver(held, &info, &attempt, context, &out)
    }

    /// Offers the filters a response that interceptors have prepared. It counts as the origin's.
    private mutating func offer(
        _ body: [UInt8], _ info: inout ExchangeInfo, _ attempt: inout Attempt, _ context: borrowing ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        var held = HeldResponse(reason: .advice, head: head, body: body, limit: body.count)
        info.classification?.learnFlow(from: held, into: info.stores(context).flows)
        if let limit = filtered(.offered, &info, attempt, context, out)?.held {
            held.limit = limit
            guard held.body.count > limit else { return consider(held, &info, &attempt, context, &out) }
            info.log.tell(.unread("the response is too large to examine"), out.now)
            filtered(.tooLarge, &info, attempt, context, out)
        }
        return deliver(held, &info, &attempt, context, &out)
    }

    /// Has the filters decide about a response that is held whole.
    private mutating func consider(
        _ held: HeldResponse, _ info: inout ExchangeInfo, _ attempt: inout Attempt, _ context: borrowing ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        switch filtered(.whole(held), &info, attempt, context, out) {
        case .proceed?, nil: return deliver(held, &info, &attempt, context, &out)
        case .deliver(let other)?: return deliver(other, &info, &attempt, context, &out)
        case let action?:
            let capture = info.log.capture
            FlowWriter.writeAttempt(
                attempt, of: info, capture.answer ?? held.head, capture.answerBody ?? held.body, &out)
            return .act(action)
        }
    }

    /// Shows the filters a step of the response.
    /// - Returns: what they decide; nil without filters.
    @discardableResult
    private mutating func filtered(
        _ step: ResponseStep, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt,
        _ context: borrowing ClientContext, _ out: borrowing CommandBuffer
    ) -> FilterAction? {
        guard info.filters != nil else { return nil }
        var head = head
        let action = info.ask(attempt, context, out) { $0.response(step, &head, &$1) }
        self.head = head
        return action
    }

    /// Edits a response that is whole, for the client.
    mutating func deliver(
        _ held: HeldResponse, _ info: inout ExchangeInfo, _ attempt: inout Attempt, _ context: borrowing ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        info.stage.enter(.deciding)
        head = held.head
        return edit(.whole(held.body), at: .delivery, then: .deliver(held.body), &info, &attempt, context, &out)
    }

    // MARK: interceptors

    /// Has the interceptors edit the response.
    private mutating func edit(
        _ body: EditedBody.Arrival, at stage: ResponseStage, then passage: Passage, _ info: inout ExchangeInfo,
        _ attempt: inout Attempt, _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        guard stage == .beforeStepUp || info.engine.plan.hasResponseRules else {
            return pass(passage, BodyOutcome(), &info, &attempt, context, &out)
        }
        let made = info.intercept(&head, body, to: attempt, at: stage, out)
        if case .suspend(let suspension) = made.outcome.verdict {
            // a response that is not held cannot wait for code
            guard case .whole(let bytes) = body else {
                return pass(passage, BodyOutcome(), &info, &attempt, context, &out)
            }
            info.suspend(SuspendedPhase(.response(bytes, stage), suspension, made.outcome), &out)
            return .nothing
        }
        return judged(made, then: passage, &info, &attempt, context, &out)
    }

    /// Continues with the result of code.
    /// - Parameter body: the body as received.
    mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, of body: [UInt8], at stage: ResponseStage,
        _ info: inout ExchangeInfo, _ attempt: inout Attempt, _ context: borrowing ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        let made = info.resume(phase, answer, &head, to: attempt, at: stage, out)
        if case .suspend(let suspension) = made.outcome.verdict {
            info.suspend(SuspendedPhase(.response(body, stage), suspension, made.outcome), &out)
            return .nothing
        }
        return judged(
            made, then: stage == .delivery ? .deliver(body) : .offerWhole(body), &info, &attempt, context, &out)
    }

    private mutating func judged(
        _ made: BodyOutcome, then passage: Passage, _ info: inout ExchangeInfo, _ attempt: inout Attempt,
        _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        if let (replacement, wait) = info.log.replacement(by: made.outcome, out.now) {
            attempt.wishes.ending.add(made.outcome.ending)
            replace(replacement, in: .response, after: wait, &info, attempt, &out)
            return .nothing
        }
        if info.terms.hasClient, !made.outcome.retries.isEmpty,
            attempt.again(
                made.outcome.retries, after: head, &info, clientHasEnded: context.hasEnded, &out)
        {
            return .nothing
        }
        return pass(passage, made, &info, &attempt, context, &out)
    }

    /// Continues with a response that the interceptors let pass.
    private mutating func pass(
        _ passage: Passage, _ made: BodyOutcome, _ info: inout ExchangeInfo, _ attempt: inout Attempt,
        _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        switch passage {
        case .offer: return offer(&info, &attempt, context, &out)
        case .offerWhole(let body):
            return offer(made.body.bytes(insteadOf: body), &info, &attempt, context, &out)
        case .unheld(let held, let arrival):
            return relay(unexamined: held, arrival, &info, &attempt, context, &out)
        case .relay(let body):
            info.enter(.delivering, out.now)
            relay(made.outcome, framing, body: body, isWhole: false, &info, attempt, &out)
        case .deliver(let body):
            let bytes = made.body.bytes(insteadOf: body)
            if let call = info.call {
                attempt.wishes.ending.add(made.outcome.ending)
                let answer = HeldResponse(reason: .call, head: head, body: bytes, limit: call.maxResponseBytes)
                endCall(answer, after: info.log.drawn(made.outcome.delays, out.now), &info, attempt, &out)
            } else {
                relay(made.outcome, .length(UInt64(bytes.count)), body: bytes, isWhole: true, &info, attempt, &out)
            }
        case .switchProtocol:
            delivery.switchProtocol(head, &info.log, &out)
            info.stage.enter(.tunnelling, until: .max)
        }
        return .nothing
    }
}
