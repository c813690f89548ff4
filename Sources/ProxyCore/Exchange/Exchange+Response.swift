import Authorization
import HTTPCodec
import Interception

/// Takes the origin's response to the client, the filters or the caller.
extension Exchange {
    /// Part of the response has arrived.
    mutating func answering(_ now: Int) {
        attempt.hasAnswered = true
        switch stage.state {
        case .delivering, .holding: stage.wait(until: bounded(now + engine.settings.timeouts.idle))
        default: break
        }
    }

    mutating func perform(_ step: ResponsePhase.Step, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch step {
        case .relay:
            stage.enter(.delivering, until: bounded(out.now + engine.settings.timeouts.idle))
            delivery.begin(&responsePhase.head, responsePhase.framing, attempt, filters, &info.log, &out)
        case .offer:
            let wanted = filtered(.offered, context, out)?.held
            perform(responsePhase.offered(wanted, &info, attempt, out), &context, &out)
        case .hold(let held): stage.enter(.holding(held), until: bounded(out.now + engine.settings.timeouts.idle))
        case .consider(let held): consider(held, &context, &out)
        case .run(let phase): suspend(phase, &out)
        case .replace(let replacement, let wait, let ending):
            attempt.wishes.ending.add(ending)
            replace(replacement, in: .response, after: wait, &out)
        case .fail(let error): failed(error, &context, &out)
        case .pass(let passage, let made):
            if info.terms.hasClient, !made.outcome.retries.isEmpty, attemptsAgain(made.outcome.retries, context, &out) {
                return
            }
            pass(passage, made, &context, &out)
        }
    }

    /// Continues with a response that the interceptors let pass.
    private mutating func pass(
        _ passage: ResponsePhase.Passage, _ made: BodyOutcome, _ context: inout ClientContext,
        _ out: inout CommandBuffer
    ) {
        switch passage {
        case .offer: perform(.offer, &context, &out)
        case .offerWhole(let body):
            var held = responsePhase.prepared(body, made)
            classification?.learnFlow(from: held, into: context.stores.flows)
            guard let limit = filtered(.offered, context, out)?.held else { return deliver(held, &context, &out) }
            held.limit = limit
            guard held.body.count > limit else { return consider(held, &context, &out) }
            log.tell(.unread("the response is too large to examine"), out.now)
            filtered(.tooLarge, context, out)
            deliver(held, &context, &out)
        case .unheld(let held, let arrival):
            var words = "the response is too large to examine"
            if case .noRoom = arrival { words = "limits.buffered leaves no room to examine the response" }
            log.tell(.unread(words), out.now)
            filtered(.tooLarge, context, out)
            perform(responsePhase.relay(held, arrival, &info, attempt, out), &context, &out)
        case .relay(let body):
            stage.enter(.delivering, until: bounded(out.now + engine.settings.timeouts.idle))
            relay(made.outcome, responsePhase.framing, body: body, &out)
        case .deliver(let body):
            let bytes = made.body.bytes(insteadOf: body)
            guard let call else {
                return relay(made.outcome, .length(UInt64(bytes.count)), body: bytes, isWhole: true, &out)
            }
            attempt.wishes.ending.add(made.outcome.ending)
            let answer = HeldResponse(reason: .call, head: response, body: bytes, limit: call.maxResponseBytes)
            comeTo(answer, after: log.drawn(made.outcome.delays, out.now), &out)
        case .switchProtocol:
            delivery.switchProtocol(response, &info.log, &out)
            stage.enter(.tunnelling, until: .max)
        }
    }

    // MARK: the body

    /// Handles body bytes from the origin.
    mutating func responseBodyCame(
        _ bytes: Span<UInt8>, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) -> BodyDisposition {
        if case .pacing(let paced) = stage.state {
            paced.append(bytes)
            letThrough(paced, &out)
            return .used
        }
        guard let size = stage.hold(bytes) else { return .pass }
        guard !size.fits || !mayKeep(context, beside: size.count), case .holding(let held) = stage.state else {
            return .used
        }
        perform(
            responsePhase.exceeds(held, size.fits ? .noRoom : .overLimit, &info, attempt, out), &context, &out)
        return .used
    }

    /// Counts body bytes that were relayed straight from the origin to the client.
    mutating func responseBodyPassed(_ count: UInt64) {
        log.record.responseBytes += count
        log.capture.responsePassed()
    }

    /// Handles the end of the response.
    /// - Parameter trailers: trailer fields, each line with its line end.
    mutating func responseEnded(trailers: [UInt8], _ context: inout ClientContext, _ out: inout CommandBuffer) {
        // the origin is done, so its places at limits are free, however long the rest takes
        if !attempt.limitPlaces.isEmpty { attempt.limitPlaces = [] }
        switch stage.state {
        case .delivering:
            release(reusable: attempt.isStillBound(context), &out)
            delivery.end(trailers: trailers, &out)
            end(.complete, out.now)
        case .pacing(let paced):
            release(reusable: attempt.isStillBound(context), &out)
            paced.end(trailers: trailers)
            letThrough(paced, &out)
        case .holding(let held):
            release(reusable: info.terms.isCall ? !attempt.isBinding : attempt.isStillBound(context), &out)
            stage.enter(.deciding)
            perform(responsePhase.whole(held, &info, attempt, context.stores.flows, out), &context, &out)
        default: break
        }
    }

    // MARK: to the client

    /// Edits and delivers a response that is held whole.
    mutating func deliver(_ held: HeldResponse, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        stage.enter(.deciding)
        perform(responsePhase.deliver(held, &info, attempt, out), &context, &out)
    }

    /// Sends the client a response that is edited.
    /// - Parameters:
    ///   - body: the part of the body that is here; nil if the response was not held.
    ///   - isWhole: that is the whole body.
    private mutating func relay(
        _ outcome: Outcome, _ framing: BodyFraming, body: [UInt8]?, isWhole: Bool = false, _ out: inout CommandBuffer
    ) {
        let manner = attempt.pace(outcome, &info.log, out.now)
        guard manner.isPlain else {
            return pace(PacedResponse(framing, manner, body: body ?? [], isWhole: isWhole, now: out.now), &out)
        }
        delivery.begin(&responsePhase.head, framing, attempt, filters, &info.log, &out)
        if let body { delivery.send(body, &out) }
        guard isWhole else { return }
        delivery.end(trailers: [], &out)
        end(.complete, out.now)
    }

    mutating func pace(_ paced: PacedResponse, _ out: inout CommandBuffer) {
        stage.enter(.pacing(paced))
        letThrough(paced, &out)
    }

    /// Sends the client the part of a paced response that is due.
    mutating func letThrough(_ paced: PacedResponse, _ out: inout CommandBuffer) {
        let idle = out.now + engine.settings.timeouts.idle
        switch delivery.send(dueOf: paced, &responsePhase.head, attempt, filters, &info.log, &out) {
        case .waits(let time):
            stage.wait(until: time)
            out.commands.append(.wake(at: time))
        case .lacks: stage.wait(until: idle)
        case .passes: stage.enter(.delivering, until: idle)
        case .ends: end(.complete, out.now)
        case .breaksOff(let cut):
            // the body ends short of its announced length
            release(reusable: false, &out)
            log.tell(.cutShort(cut), out.now)
            end(cut.resets ? .cut(reset: true) : .closed, out.now)
        }
    }
}
