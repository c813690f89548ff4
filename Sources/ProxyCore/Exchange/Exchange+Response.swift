import Authorization
import Formats
import HTTPCodec
import Interception
import TLSEngine

/// The origin's answer on its way to the client.
extension Exchange {
    /// Part of an answer is here.
    mutating func answering(_ now: Int) {
        attempt.hasAnswered = true
        switch stage {
        case .delivering, .holding: wait(until: bounded(now + engine.settings.timeouts.idle))
        default: break
        }
    }

    /// What an interim response takes without its fields, in bytes.
    private static let leastInterim = 64

    /// An interim response (RFC 9110 §15.2) is passed on, but for one that was given already.
    mutating func interimCame(_ head: ResponseHead, _ context: inout ClientContext, _ out: inout Outbox) {
        // they come whatever the client takes, and no window holds them
        attempt.lease.interimBytes += head.fields.bytes.count + Self.leastInterim
        guard attempt.lease.interimBytes <= engine.settings.limits.header else {
            return originBroke(HTTPFault(.tooManyInterim, at: 0), &context, &out)
        }
        guard case .awaiting = stage, terms.hasClient else { return }
        // an answered Expect is not answered twice
        if head.status == 100, body.isKept { return }
        out.replies.append(.interim(head, isOwn: false))
    }

    /// The final head of the answer is in `response`.
    mutating func answered(_ framing: BodyFraming, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .awaiting = stage else { return }
        attempt.framing = framing
        log.record.originVersion = response.version
        attempt.wishes.answerLimit = nil
        log.capture.answered(out.now)
        if response.status == 407, let origin = attempt.origin, case .forward = origin.route {
            return failed(.credentialsRefused(origin.peer), &context, &out)
        }
        if !attempt.isBinding, response.fields.hasConnectionChallenge {
            attempt.isBinding = true
            if terms.sharesConnections { bind(&context, &out) }
        }
        answerSeen(context, out)
        guard isPrepared(context, &out) else { return }
        let deadline = bounded(out.now + engine.settings.timeouts.idle)
        if let held = holding(context, out) { return enter(.holding(held), until: deadline) }
        enter(.delivering, until: deadline)
        deliver(framing, context, &out)
    }

    /// The answer where it has to be held back.
    private mutating func holding(_ context: ClientContext, _ out: borrowing Outbox) -> HeldResponse? {
        let kept = engine.settings.limits.keptBody
        if let call {
            return HeldResponse(reason: .call, head: response, limit: min(call.maxResponseBytes, kept))
        }
        if let limit = filtersHold(context, out) {
            return HeldResponse(reason: .advice, head: response, limit: min(limit, kept))
        }
        if tellsFlow {
            return HeldResponse(reason: .flow, head: response, limit: min(Classifier.bodyPeek, kept))
        }
        guard isAnswerRead(out), hasRoomFor(kept) else { return nil }
        return HeldResponse(reason: .edit, head: response, limit: kept)
    }

    /// The answer's body is not known to be larger than that.
    func hasRoomFor(_ limit: Int) -> Bool {
        if case .length(let length) = attempt.framing { length <= UInt64(limit) } else { true }
    }

    /// An interceptor that applies changes the body of the answer, or asks what is in it.
    private mutating func isAnswerRead(_ out: borrowing Outbox) -> Bool {
        let plan = engine.plan
        guard plan.readsResponseBodies else { return false }
        let sent = sentHead
        guard let first = plan.firstResponseMatch(response, request: sent, classification) else { return false }
        return phases.readsBody(of: response, to: sent, plan, from: first, EditContext(response: self, at: out.seconds))
    }

    private var tellsFlow: Bool {
        guard let action = classification?.action else { return false }
        return (action == .startAuthenticate || action == .authenticate) && response.status == 200
    }

    /// From here on the connection speaks something else, and is relayed unopened (RFC 9110 §15.2.2).
    mutating func switched(_ context: inout ClientContext, _ out: inout Outbox) {
        guard case .awaiting = stage else { return }
        guard attempt.offersUpgrade else {
            return failed(
                ProxyError.badResponse("the origin switched protocols without being asked"), &context, &out)
        }
        if response.version == .http2 {
            if request.version != .http2, let key = WebSocketKey(of: request) {
                response.fields.set(WebSocketKey.answerName, key.answer)
            }
        } else if let key = attempt.socketKey {
            guard response.fields[WebSocketKey.answerName] == key.answer else {
                return failed(
                    ProxyError.badResponse("the origin switched to a WebSocket without its Sec-WebSocket-Accept"),
                    &context, &out)
            }
            response.fields.remove(named: WebSocketKey.answerName)
        }
        guard editResponse(.whole([]), context, &out) != nil else { return }
        log.capture.delivery = .response
        log.record.originVersion = response.version
        log.tell(.delivered(status: 101), out.now)
        out.replies.append(.switching(response))
        enter(.tunnelling, until: .max)
    }

    // MARK: to the client

    /// Gives the response's head to the client, after the response phase of the interceptors.
    private mutating func deliver(_ framing: BodyFraming, _ context: ClientContext, _ out: inout Outbox) {
        if !engine.plan.hasResponseRules, attempt.wishes.ending.isPlain { return reply(framing, &out) }
        // had any interceptor use for the body, it would be held, were it not too large
        guard let made = editResponse(.overLimit, context, &out) else { return }
        if let paced = paced(made.outcome, framing, out.now) { return pace(paced, &out) }
        reply(framing, &out)
    }

    /// - Parameter isLast: the connection closes after it.
    mutating func reply(_ framing: BodyFraming, isLast: Bool = false, _ out: inout Outbox) {
        filters?.end(.delivered(status: response.status))
        log.capture.delivery = .response
        for line in filters?.cookieLines ?? [] { response.fields.add("Set-Cookie", line) }
        var manner = HeadManner(isLast: isLast)
        if attempt.isBinding, response.fields.hasConnectionChallenge {
            // RFC 4559 §6: a client answers such a challenge only where it knows that its connection stays its own
            manner.lines = Self.keepsConnections
        }
        log.tell(.delivered(status: response.status), out.now)
        out.replies.append(.head(response, framing, manner))
    }

    private static let keepsConnections = Array("Proxy-Support: Session-Based-Authentication\r\n".utf8)

    /// Runs the response phase on the head of an answer and its body, or on the head alone where no more is asked for. What
    /// happened is noted.
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
    /// - Returns: what becomes of the answer; nil where it is not delivered, and what is done in its place has begun.
    mutating func editResponse(
        _ body: EditedBody.Arrival, at stage: ResponseStage = .delivery, _ context: ClientContext, _ out: inout Outbox
    ) -> BodyOutcome? {
        guard stage == .beforeStepUp || engine.plan.hasResponseRules else { return BodyOutcome() }
        var head = response
        let made = intercept(&head, body, at: stage, out)
        response = head
        if case .suspend(let suspension) = made.outcome.verdict {
            // what nobody holds waits for nobody
            guard case .whole(let bytes) = body else { return BodyOutcome() }
            let message = stage == .delivery ? SuspendedPhase.Message.response(bytes) : .preparation(bytes)
            suspend(message, suspension, made.outcome, &out)
            return nil
        }
        return judged(made, context, &out)
    }

    /// The response phase has come to that.
    /// - Returns: what becomes of the answer; nil where it is not delivered, and what is done in its place has begun.
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

    /// Bytes of the answer's body came from the origin.
    mutating func responseBodyCame(
        _ bytes: Span<UInt8>, _ context: inout ClientContext, _ out: inout Outbox
    ) -> BodyDisposition {
        if case .pacing(let paced) = stage {
            paced.append(bytes)
            letThrough(paced, &out)
            return .used
        }
        guard case .holding(var held) = stage else { return .pass }
        // the array is changed in its one place
        enter(.awaiting)
        held.body.append(bytes)
        let count = held.body.count
        let limit = held.limit
        enter(.holding(held))
        if count > limit {
            cannotHold(
                .badResponse(
                    "the answer is larger than is read of one (authorization.limits.answer, limits.buffered_body)"),
                .overLimit, "the answer is too large to be looked through", &context, &out)
        } else if !mayKeep(context, beside: count) {
            cannotHold(
                .noRoom("the answer cannot be kept"), .noRoom,
                "limits.buffered leaves no room to look through the answer", &context, &out)
        }
        return .used
    }

    /// So many bytes of the answer's body went past, from the origin straight to the client.
    mutating func responseBodyPassed(_ count: UInt64) {
        log.record.responseBytes += count
        log.capture.responsePassed()
    }

    /// What cannot be held goes to the client as it is.
    /// - Parameter error: what that is of an answer that is for nobody else.
    private mutating func cannotHold(
        _ error: ProxyError, _ arrival: EditedBody.Arrival, _ words: String, _ context: inout ClientContext,
        _ out: inout Outbox
    ) {
        guard case .holding(let held) = stage else { return }
        if held.reason == .call { return failed(error, &context, &out) }
        if held.reason == .preparation, !isPrepared(arrival, context, &out) { return }
        if held.reason == .advice || held.reason == .preparation {
            log.tell(.unread(words), out.now)
            answerUnheld(context, out)
        }
        enter(.delivering)
        guard let made = editResponse(arrival, context, &out) else { return }
        if let paced = paced(made.outcome, attempt.framing, body: held.body, out.now) { return pace(paced, &out) }
        reply(attempt.framing, &out)
        out.replies.append(.data(held.body))
    }

    /// The answer is complete.
    /// - Parameter trailers: fields behind its body, each line with its end.
    mutating func responseEnded(trailers: [UInt8], _ context: inout ClientContext, _ out: inout Outbox) {
        // the origin has done its part, however long what follows takes
        if !attempt.turns.isEmpty { attempt.turns = [] }
        switch stage {
        case .delivering:
            release(reusable: isStillBound(context), &out)
            out.replies.append(.end(trailers: trailers))
            complete(out.now)
        case .pacing(let paced):
            release(reusable: isStillBound(context), &out)
            paced.end(trailers: trailers)
            letThrough(paced, &out)
        case .holding(let held):
            release(reusable: terms.sharesConnections && isStillBound(context), &out)
            heldWhole(held, &context, &out)
        default: break
        }
    }

    private mutating func heldWhole(
        _ held: HeldResponse, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        enter(.deciding)
        switch held.reason {
        case .call: deliverHeld(held, context, &out)
        case .flow, .edit:
            learnFlow(held, context)
            deliverHeld(held, context, &out)
        case .preparation: prepare(held, &context, &out)
        case .advice:
            learnFlow(held, context)
            considerHeld(held, &context, &out)
        }
    }

    /// Delivers a response that was held whole.
    mutating func deliverHeld(_ held: HeldResponse, _ context: ClientContext, _ out: inout Outbox) {
        enter(.deciding)
        response = held.head
        guard let made = editResponse(.whole(held.body), context, &out) else { return }
        deliver(made, of: held.body, &out)
    }

    /// The response phase of a response that was held whole goes on no further.
    mutating func heldEdited(_ body: [UInt8], _ made: BodyOutcome, _ context: ClientContext, _ out: inout Outbox) {
        if case .suspend(let suspension) = made.outcome.verdict {
            return suspend(.response(body), suspension, made.outcome, &out)
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
        let framing = BodyFraming.length(UInt64(bytes.count))
        if let paced = paced(made.outcome, framing, body: bytes, isWhole: true, out.now) { return pace(paced, &out) }
        reply(.length(UInt64(bytes.count)), &out)
        out.replies.append(.data(bytes))
        out.replies.append(.end(trailers: []))
        complete(out.now)
    }

    /// Remembers whose flow the `authId` in an answer of AM belongs to.
    func learnFlow(_ held: HeldResponse, _ context: ClientContext) {
        guard tellsFlow, let flows = context.stores.flows, let payload = classification?.payload,
            let authId = held.plainBody(held.limit).flatMap(Classifier.authId)
        else { return }
        flows.remember(authId: authId, payload: payload)
    }

    // MARK: the origin's end

    /// The origin sends no more, in the middle of what it had to say.
    /// - Parameter ending: of its stream, where that is all that ended.
    mutating func originEnded(
        fault: TLSFault? = nil, _ ending: StreamEnding, _ context: inout ClientContext,
        _ out: inout Outbox
    ) {
        switch stage {
        case .leasing: failed(.terminated(ending), &context, &out)
        case .awaiting:
            if mayRepeat(ending) {
                retries.enterUnasked()
                release(reusable: false, &out)
                // what proves one sending proves no other
                if let plain = attempt.plain { attempt.head = plain }
                return leaseForSending(by: .new, &context, &out)
            }
            if let fault, let wanted = attempt.origin { return failed(ProxyError(fault, wanted), &context, &out) }
            failed(attempt.hasAnswered ? .incomplete(ending) : .terminated(ending), &context, &out)
        case .delivering, .holding: failed(.incomplete(ending), &context, &out)
        case .pacing(let paced): if !paced.isWhole { failed(.incomplete(ending), &context, &out) }
        case .reading, .authenticating, .collecting, .deciding, .calling, .waiting, .intercepting, .tunnelling, .over:
            break
        }
    }

    /// The origin's answer breaks HTTP.
    mutating func originBroke(_ fault: HTTPFault, _ context: inout ClientContext, _ out: inout Outbox) {
        failed(
            .badResponse("the origin's answer breaks HTTP: \(fault.explanation) (\(fault.code.rawValue))"), &context,
            &out)
    }

    /// Before a byte of an answer, while the request is still here: where the origin has made nothing of it, or else on a pooled
    /// connection that had gone stale, when it may be sent twice (RFC 9110 §9.2.2).
    private func mayRepeat(_ ending: StreamEnding) -> Bool {
        guard !attempt.hasAnswered, body.isKept, retries.total < max(1, engine.settings.limits.retries) else {
            return false
        }
        switch ending {
        case .reset(let code): return code == .refused
        case .connection, .silence: return attempt.lease.isReused && mayGoTwice
        }
    }

    /// Whether the request may have gone out before, should nobody know.
    var mayGoTwice: Bool { body.isKept && (attempt.head?.method ?? request.method).isIdempotent }

    /// The exchange cannot be finished with the origin: whoever waits for it is told.
    mutating func failed(_ error: ProxyError, _ context: inout ClientContext, _ out: inout Outbox) {
        if filtersFailed(error.details, &context, &out) { return }
        if hasStarted {
            log.tell(.failed(token: error.token, details: error.details), out.now)
            return cut(reset: true, &out)
        }
        if isHandled(error, context, &out) { return }
        answer(error, &out)
    }
}
