import Authorization
import Formats
import HTTPCodec
import Interception
import TLSEngine

/// Relays the origin's response to the client.
extension Exchange {
    /// Part of the response has arrived.
    mutating func answering(_ now: Int) {
        attempt.hasAnswered = true
        switch stage.state {
        case .delivering, .holding: stage.wait(until: bounded(now + engine.settings.timeouts.idle))
        default: break
        }
    }

    /// Relays an interim response (RFC 9110 §15.2), unless Usher has already sent a 100 itself.
    mutating func interimCame(_ head: ResponseHead, _ context: inout ClientContext, _ out: inout Outbox) {
        guard attempt.takesInterim(head, limit: engine.settings.limits.header) else {
            return originBroke(HTTPFault(.tooManyInterim, at: 0), &context, &out)
        }
        guard case .awaiting = stage.state, terms.hasClient else { return }
        // Usher has already sent 100 (Continue) for a body that it keeps
        if head.status == 100, body.isKept { return }
        delivery.interim(head, isOwn: false, &out)
    }

    /// Handles the final head of the response, which is in `response`.
    mutating func answered(_ framing: BodyFraming, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .awaiting = stage.state else { return }
        attempt.framing = framing
        log.record.originVersion = response.version
        attempt.wishes.answerLimit = nil
        log.capture.answered(out.now)
        if let refusal = attempt.refusal(of: response) { return failed(refusal, &context, &out) }
        if !attempt.isBinding, response.fields.hasConnectionChallenge {
            attempt.challenged(&context, of: id, terms, user: log.record.user, &out)
        }
        answerSeen(context, out)
        guard isPrepared(context, &out) else { return }
        let deadline = bounded(out.now + engine.settings.timeouts.idle)
        if let held = holding(context, out) { return stage.enter(.holding(held), until: deadline) }
        stage.enter(.delivering, until: deadline)
        deliver(framing, context, &out)
    }

    /// The response to hold; nil when it need not be held.
    private mutating func holding(_ context: ClientContext, _ out: borrowing Outbox) -> HeldResponse? {
        let kept = engine.settings.limits.keptBody
        if let call {
            return HeldResponse(reason: .call, head: response, limit: min(call.maxResponseBytes, kept))
        }
        if let limit = filtersHold(context, out) {
            return HeldResponse(reason: .advice, head: response, limit: min(limit, kept))
        }
        if classification?.tellsFlow(in: response) == true {
            return HeldResponse(reason: .flow, head: response, limit: min(Classifier.bodyPeek, kept))
        }
        guard isAnswerRead(out), hasRoomFor(kept) else { return nil }
        return HeldResponse(reason: .edit, head: response, limit: kept)
    }

    /// Whether the body of the response may fit the limit: its length is unknown or no larger.
    func hasRoomFor(_ limit: Int) -> Bool {
        if case .length(let length) = attempt.framing { length <= UInt64(limit) } else { true }
    }

    /// Whether an interceptor that applies changes or reads the body of the response.
    private mutating func isAnswerRead(_ out: borrowing Outbox) -> Bool {
        let plan = engine.plan
        guard plan.readsResponseBodies else { return false }
        let sent = sentHead
        guard let first = plan.firstResponseMatch(response, request: sent, classification) else { return false }
        return phases.readsBody(of: response, to: sent, plan, from: first, EditContext(response: self, at: out.seconds))
    }

    /// Handles 101: the connection changes its protocol and is relayed unread (RFC 9110 §15.2.2).
    mutating func switched(_ context: inout ClientContext, _ out: inout Outbox) {
        guard case .awaiting = stage.state else { return }
        if let refusal = attempt.refusal(ofSwitch: &response, to: received.head) {
            return failed(refusal, &context, &out)
        }
        guard editResponse(.whole([]), context, &out) != nil else { return }
        delivery.switchProtocol(response, &log, &out)
        stage.enter(.tunnelling, until: .max)
    }

    // MARK: to the client

    /// Runs the response phase and sends the head of the response to the client.
    private mutating func deliver(_ framing: BodyFraming, _ context: ClientContext, _ out: inout Outbox) {
        if !engine.plan.hasResponseRules, attempt.wishes.ending.isPlain { return reply(framing, &out) }
        // a body that an interceptor needs is held, unless it is too large
        guard let made = editResponse(.overLimit, context, &out) else { return }
        deliver(made.outcome, framing, body: nil, &out)
    }

    /// Sends the response to the client, at the pace that interceptors wish.
    /// - Parameters:
    ///   - body: the part of the body that is here; nil if the response was not held.
    ///   - isWhole: that is the whole body.
    private mutating func deliver(
        _ outcome: Outcome, _ framing: BodyFraming, body: [UInt8]?, isWhole: Bool = false, _ out: inout Outbox
    ) {
        let manner = attempt.pace(outcome, &log, out.now)
        guard manner.isPlain else {
            return pace(PacedResponse(framing, manner, body: body ?? [], isWhole: isWhole, now: out.now), &out)
        }
        reply(framing, &out)
        if let body { delivery.send(body, &out) }
        guard isWhole else { return }
        delivery.end(trailers: [], &out)
        complete(out.now)
    }

    /// - Parameter isLast: the connection closes after the response.
    mutating func reply(_ framing: BodyFraming, isLast: Bool = false, _ out: inout Outbox) {
        filters?.end(.delivered(status: response.status))
        for line in filters?.cookieLines ?? [] { response.fields.add("Set-Cookie", line) }
        delivery.begin(response, framing, attempt.manner(of: response, isLast: isLast), &log, &out)
    }

    /// Runs the response phase on the head and the body, or on the head alone when no more is needed. Logs
    /// what happened.
    mutating func intercept(
        _ head: inout ResponseHead, _ body: EditedBody.Arrival, at stage: ResponseStage = .delivery,
        _ out: borrowing Outbox
    ) -> BodyOutcome {
        let sent = sentHead
        guard let first = engine.plan.firstResponseMatch(head, request: sent, classification, at: stage) else {
            return BodyOutcome()
        }
        return phases.run(
            engine.plan, from: first, on: &head, to: sent, body, at: stage,
            EditContext(response: self, at: out.seconds), &log, out.now)
    }

    /// Runs the response phase.
    /// - Returns: the edited response; nil when something else has begun in its place.
    mutating func editResponse(
        _ body: EditedBody.Arrival, at stage: ResponseStage = .delivery, _ context: ClientContext, _ out: inout Outbox
    ) -> BodyOutcome? {
        guard stage == .beforeStepUp || engine.plan.hasResponseRules else { return BodyOutcome() }
        var head = response
        let made = intercept(&head, body, at: stage, out)
        response = head
        if case .suspend(let suspension) = made.outcome.verdict {
            // a response that is not held cannot wait for code
            guard case .whole(let bytes) = body else { return BodyOutcome() }
            let message = stage == .delivery ? SuspendedPhase.Message.response(bytes) : .preparation(bytes)
            suspend(SuspendedPhase(message, suspension, made.outcome), &out)
            return nil
        }
        return judged(made, context, &out)
    }

    /// Handles the outcome of the response phase.
    /// - Returns: the edited response; nil when something else has begun in its place.
    mutating func judged(
        _ made: BodyOutcome, _ context: ClientContext, _ out: inout Outbox
    ) -> BodyOutcome? {
        switch made.outcome.verdict {
        case .suspend: return nil
        case .proceed:
            if terms.hasClient, !made.outcome.retries.isEmpty, attemptsAgain(made.outcome.retries, context, &out) {
                return nil
            }
            return made
        case .respond(let local, let interceptor):
            attempt.wishes.ending.add(made.outcome.ending)
            answer(local, interceptor: interceptor, after: log.drawn(made.outcome.delays, out.now), &out)
        case .breaks(let breakage, let interceptor):
            breaks(breakage, interceptor: interceptor, after: log.drawn(made.outcome.delays, out.now), &out)
        case .abort(let interceptor, let reason):
            answer(.aborted(.response, by: interceptor, reason, terms), &out)
        }
        return nil
    }

    // MARK: the body

    /// Handles body bytes from the origin.
    mutating func responseBodyCame(
        _ bytes: Span<UInt8>, _ context: inout ClientContext, _ out: inout Outbox
    ) -> BodyDisposition {
        if case .pacing(let paced) = stage.state {
            paced.append(bytes)
            letThrough(paced, &out)
            return .used
        }
        guard let held = stage.hold(bytes) else { return .pass }
        if !held.fits {
            cannotHold(
                .badResponse(
                    "the answer is larger than is read of one (authorization.limits.answer, limits.buffered_body)"),
                .overLimit, "the answer is too large to be looked through", &context, &out)
        } else if !mayKeep(context, beside: held.count) {
            cannotHold(
                .noRoom("the answer cannot be kept"), .noRoom,
                "limits.buffered leaves no room to look through the answer", &context, &out)
        }
        return .used
    }

    /// Counts body bytes that were relayed straight from the origin to the client.
    mutating func responseBodyPassed(_ count: UInt64) {
        log.record.responseBytes += count
        log.capture.responsePassed()
    }

    /// Relays a response that is too large to hold unchanged.
    /// - Parameter error: the error for a response that only Usher may read.
    private mutating func cannotHold(
        _ error: ProxyError, _ arrival: EditedBody.Arrival, _ words: String, _ context: inout ClientContext,
        _ out: inout Outbox
    ) {
        guard case .holding(let held) = stage.state else { return }
        if held.reason == .call { return failed(error, &context, &out) }
        if held.reason == .preparation, !isPrepared(arrival, context, &out) { return }
        if held.reason == .advice || held.reason == .preparation {
            log.tell(.unread(words), out.now)
            answerUnheld(context, out)
        }
        stage.enter(.delivering)
        guard let made = editResponse(arrival, context, &out) else { return }
        deliver(made.outcome, attempt.framing, body: held.body, &out)
    }

    /// Handles the end of the response.
    /// - Parameter trailers: trailer fields, each line with its line end.
    mutating func responseEnded(trailers: [UInt8], _ context: inout ClientContext, _ out: inout Outbox) {
        // the origin is done, so its places at limits are free, however long the rest takes
        if !attempt.turns.isEmpty { attempt.turns = [] }
        switch stage.state {
        case .delivering:
            release(reusable: attempt.isStillBound(context), &out)
            delivery.end(trailers: trailers, &out)
            complete(out.now)
        case .pacing(let paced):
            release(reusable: attempt.isStillBound(context), &out)
            paced.end(trailers: trailers)
            letThrough(paced, &out)
        case .holding(let held):
            release(reusable: terms.isCall ? !attempt.isBinding : attempt.isStillBound(context), &out)
            heldWhole(held, &context, &out)
        default: break
        }
    }

    private mutating func heldWhole(
        _ held: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        stage.enter(.deciding)
        switch held.reason {
        case .call: deliverHeld(held, context, &out)
        case .flow, .edit:
            classification?.learnFlow(from: held, into: context.stores.flows)
            deliverHeld(held, context, &out)
        case .preparation: prepare(held, &context, &out)
        case .advice:
            classification?.learnFlow(from: held, into: context.stores.flows)
            considerHeld(held, &context, &out)
        }
    }

    /// Edits and delivers a response that is held whole.
    mutating func deliverHeld(_ held: HeldResponse, _ context: ClientContext, _ out: inout Outbox) {
        stage.enter(.deciding)
        response = held.head
        guard let made = editResponse(.whole(held.body), context, &out) else { return }
        deliver(made, of: held.body, &out)
    }

    /// Finishes the response phase of a response that was held whole.
    mutating func heldEdited(_ body: [UInt8], _ made: BodyOutcome, _ context: ClientContext, _ out: inout Outbox) {
        if case .suspend(let suspension) = made.outcome.verdict {
            return suspend(SuspendedPhase(.response(body), suspension, made.outcome), &out)
        }
        guard let made = judged(made, context, &out) else { return }
        deliver(made, of: body, &out)
    }

    private mutating func deliver(_ made: BodyOutcome, of body: [UInt8], _ out: inout Outbox) {
        let bytes = made.body.bytes(insteadOf: body)
        if let call {
            attempt.wishes.ending.add(made.outcome.ending)
            let answer = HeldResponse(reason: .call, head: response, body: bytes, limit: call.maxResponseBytes)
            return comeTo(answer, after: log.drawn(made.outcome.delays, out.now), &out)
        }
        deliver(made.outcome, .length(UInt64(bytes.count)), body: bytes, isWhole: true, &out)
    }

    // MARK: the end of the origin's stream

    /// The origin closed before its response was complete.
    /// - Parameter ending: how the stream ended, when only the stream ended.
    mutating func originEnded(
        fault: TLSFault? = nil, _ ending: StreamEnding, _ context: inout ClientContext,
        _ out: inout Outbox
    ) {
        switch stage.state {
        case .leasing: failed(.terminated(ending), &context, &out)
        case .awaiting:
            if attempt.mayRepeat(received, after: ending, retries: retries.total, limit: engine.settings.limits.retries)
            {
                retries.enterUnasked()
                release(reusable: false, &out)
                // a proof covers one sending only, so the retry starts without it
                if let plain = attempt.plain { attempt.head = plain }
                return lease(by: .new, &context, &out)
            }
            if let fault, let wanted = attempt.origin { return failed(ProxyError(fault, wanted), &context, &out) }
            failed(attempt.hasAnswered ? .incomplete(ending) : .terminated(ending), &context, &out)
        case .delivering, .holding: failed(.incomplete(ending), &context, &out)
        case .pacing(let paced): if !paced.isWhole { failed(.incomplete(ending), &context, &out) }
        case .reading, .authenticating, .collecting, .deciding, .calling, .waiting, .intercepting, .tunnelling, .over:
            break
        }
    }

    /// The origin's response is invalid HTTP.
    mutating func originBroke(_ fault: HTTPFault, _ context: inout ClientContext, _ out: inout Outbox) {
        failed(
            .badResponse("the origin's answer breaks HTTP: \(fault.explanation) (\(fault.code.rawValue))"), &context,
            &out)
    }

    /// The exchange failed at the origin: reports the error to the client, the filters or the caller.
    mutating func failed(_ error: ProxyError, _ context: inout ClientContext, _ out: inout Outbox) {
        if filtersFailed(error.details, &context, &out) { return }
        if delivery.hasBegun {
            log.tell(.failed(token: error.token, details: error.details), out.now)
            return cut(reset: true, &out)
        }
        if isHandled(error, context, &out) { return }
        answer(error, &out)
    }
}
