import Authorization
import HTTPCodec
import Interception

/// Takes a response from its head to what the client gets: the interceptors before the step-up, the filters, the other
/// interceptors. `ExchangeStage` holds what it holds.
struct ResponsePhase: ~Copyable {
    /// What the exchange has to do.
    enum Step {
        /// Relay the response: no interceptor has a part in it.
        case relay
        /// Ask the filters how much of the response they need.
        case offer
        /// Hold the response until it is whole.
        indirect case hold(HeldResponse)
        /// Have the filters decide about the response.
        indirect case consider(HeldResponse)
        /// Wait for code, with the phase that it is part of.
        case run(SuspendedPhase)
        indirect case replace(Replacement, after: Int, AnswerEnding)
        indirect case fail(ProxyError)
        /// The interceptors let the response pass, or repeat the request.
        indirect case pass(Passage, BodyOutcome)
    }

    /// What follows when the interceptors let the response pass.
    enum Passage {
        /// Ask the filters how much of the response they need.
        case offer
        /// The response is whole: ask the filters about it.
        case offerWhole([UInt8])
        /// The filters cannot have the response whole, for the reason in the words: relay it.
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

    // MARK: the head is here

    mutating func begin(
        _ framing: BodyFraming, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt, _ out: borrowing CommandBuffer
    ) -> Step {
        self.framing = framing
        let plan = info.engine.plan
        guard plan.preparesResponses, info.terms.isGuarded,
            let reads = reads(at: .beforeStepUp, &info, attempt, out)
        else { return .offer }
        let limit = info.engine.settings.limits.keptBody
        if reads, fits(limit) { return .hold(HeldResponse(reason: .preparation, head: head, limit: limit)) }
        return edit(.overLimit, at: .beforeStepUp, then: .offer, &info, attempt, out)
    }

    /// The filters have said how much of the response they need.
    /// - Parameter wanted: in bytes; nil for nothing.
    mutating func offered(
        _ wanted: Int?, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt, _ out: borrowing CommandBuffer
    ) -> Step {
        let kept = info.engine.settings.limits.keptBody
        if let call = info.call {
            return .hold(HeldResponse(reason: .call, head: head, limit: min(call.maxResponseBytes, kept)))
        }
        if let wanted { return .hold(HeldResponse(reason: .advice, head: head, limit: min(wanted, kept))) }
        if info.classification?.tellsFlow(in: head) == true {
            return .hold(HeldResponse(reason: .flow, head: head, limit: min(Classifier.bodyPeek, kept)))
        }
        guard info.engine.plan.hasResponseRules || !attempt.wishes.ending.isPlain else { return .relay }
        if info.engine.plan.readsResponseBodies, reads(at: .delivery, &info, attempt, out) == true, fits(kept) {
            return .hold(HeldResponse(reason: .edit, head: head, limit: kept))
        }
        return edit(.overLimit, at: .delivery, then: .relay(nil), &info, attempt, out)
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

    // MARK: the response is held

    /// The response does not fit.
    mutating func exceeds(
        _ held: HeldResponse, _ arrival: EditedBody.Arrival, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt,
        _ out: borrowing CommandBuffer
    ) -> Step {
        switch held.reason {
        case .call:
            if case .noRoom = arrival { return .fail(.noRoom("the response cannot be kept")) }
            return .fail(
                .badResponse(
                    "the response is larger than the limit (authorization.limits.answer, limits.buffered_body)"))
        case .preparation: return edit(arrival, at: .beforeStepUp, then: .unheld(held, arrival), &info, attempt, out)
        case .advice: return .pass(.unheld(held, arrival), BodyOutcome())
        case .flow, .edit: return relay(held, arrival, &info, attempt, out)
        }
    }

    /// Relays a response of which a part is here.
    mutating func relay(
        _ held: HeldResponse, _ arrival: EditedBody.Arrival, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt,
        _ out: borrowing CommandBuffer
    ) -> Step {
        edit(arrival, at: .delivery, then: .relay(held.body), &info, attempt, out)
    }

    /// The response is here whole.
    mutating func whole(
        _ held: HeldResponse, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt, _ flows: (any FlowStore)?,
        _ out: borrowing CommandBuffer
    ) -> Step {
        switch held.reason {
        case .call: break
        case .flow, .edit: info.classification?.learnFlow(from: held, into: flows)
        case .preparation:
            return edit(
                .whole(held.body), at: .beforeStepUp, then: .offerWhole(held.body), &info, attempt, out)
        case .advice:
            info.classification?.learnFlow(from: held, into: flows)
            return .consider(held)
        }
        return deliver(held, &info, attempt, out)
    }

    /// The response as the interceptors before the step-up left it. It counts as the origin's.
    func prepared(_ body: [UInt8], _ made: BodyOutcome) -> HeldResponse {
        let bytes = made.body.bytes(insteadOf: body)
        return HeldResponse(reason: .advice, head: head, body: bytes, limit: bytes.count)
    }

    /// Edits a response that is whole, for the client.
    mutating func deliver(
        _ held: HeldResponse, _ info: inout ExchangeInfo, _ attempt: borrowing Attempt, _ out: borrowing CommandBuffer
    ) -> Step {
        head = held.head
        return edit(.whole(held.body), at: .delivery, then: .deliver(held.body), &info, attempt, out)
    }

    // MARK: interceptors

    /// Has the interceptors edit the response.
    mutating func edit(
        _ body: EditedBody.Arrival, at stage: ResponseStage, then passage: Passage, _ info: inout ExchangeInfo,
        _ attempt: borrowing Attempt, _ out: borrowing CommandBuffer
    ) -> Step {
        guard stage == .beforeStepUp || info.engine.plan.hasResponseRules else { return .pass(passage, BodyOutcome()) }
        let made = info.intercept(&head, body, to: attempt, at: stage, out)
        if case .suspend(let suspension) = made.outcome.verdict {
            // a response that is not held cannot wait for code
            guard case .whole(let bytes) = body else { return .pass(passage, BodyOutcome()) }
            return .run(SuspendedPhase(.response(bytes, stage), suspension, made.outcome))
        }
        return judged(made, then: passage, &info.log, out.now)
    }

    /// Continues with the result of code.
    /// - Parameter body: the body as received.
    mutating func resume(
        _ phase: SuspendedPhase, _ answer: SwiftAnswer, of body: [UInt8], at stage: ResponseStage,
        _ info: inout ExchangeInfo, _ attempt: borrowing Attempt, _ out: borrowing CommandBuffer
    ) -> Step {
        let made = info.resume(phase, answer, &head, to: attempt, at: stage, out)
        if case .suspend(let suspension) = made.outcome.verdict {
            return .run(SuspendedPhase(.response(body, stage), suspension, made.outcome))
        }
        return judged(made, then: stage == .delivery ? .deliver(body) : .offerWhole(body), &info.log, out.now)
    }

    private func judged(
        _ made: BodyOutcome, then passage: Passage, _ log: inout ExchangeLog, _ now: Int
    ) -> Step {
        guard let (replacement, wait) = log.replacement(by: made.outcome, now) else { return .pass(passage, made) }
        return .replace(replacement, after: wait, made.outcome.ending)
    }
}
