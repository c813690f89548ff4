import Addresses
import Authorization
import HTTPCodec
import Interception

/// Takes the request from its head to the way out.
extension Exchange {
    /// Begins with the request in `request`, whose body has this framing.
    mutating func begin(_ framing: BodyFraming, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        perform(Reception.begin(framing, &info, &context, date: out.date), &context, &out)
    }

    mutating func perform(_ reception: Reception, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch reception {
        case .authenticates(let check):
            stage.enter(.authenticating, until: out.now + PasswordGate.longestCheck)
            out.commands.append(.authenticate(id, check))
        case .proceeds: planBody(&context, &out)
        case .answered(let local): answer(local, &out)
        case .refused(let error, let isLast):
            info.logUser(refusedBy: error, out.now)
            answer(error, isLast: isLast, &out)
        case .tunnel:
            log.tell(.sent, out.now)
            stage.enter(.tunnelling, until: .max)
            out.clientCommands.append(.connect)
        case .ownTunnel(let origin):
            context.tunnel = origin
            log.tell(.delivered(status: 200), out.now)
            out.clientCommands.append(.openOwnPages)
            end(.complete, out.now)
        case .push:
            info.received.body.collect(upTo: PushDelivery.largest)
            collect(&out)
        }
    }

    /// Rejects an invalid request and closes the connection, because the start of the next request is unknown.
    mutating func refuse(_ fault: HTTPFault, _ out: inout CommandBuffer) { answer(.broken(fault), isLast: true, &out) }

    // MARK: the body

    /// How to handle body bytes.
    enum BodyDisposition {
        /// Relay them to the other side.
        case pass
        /// Drop them: they were used here or are no longer wanted.
        case used
    }

    /// Decides whether the body must be kept, and sends the request at once if not.
    private mutating func planBody(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        var keep = info.wantedBody(out.seconds)
        if !engine.filters.isEmpty { keep = max(keep, addFilters(at: .head, out)) }
        info.received.body.plan(keeping: min(keep, engine.settings.limits.keptBody))
        if body.state == .collecting { return collect(&out) }
        classified(&context, &out)
    }

    /// Waits for the body.
    private mutating func collect(_ out: inout CommandBuffer) {
        stage.enter(.collecting, until: out.now + engine.settings.timeouts.idle)
        // the request goes to the origin only after the body is here, so Usher itself sends 100 (RFC 9110 §10.1.1)
        if request.expectsContinue {
            delivery.interim(ResponseHead(status: 100, reason: "Continue"), isOwn: true, &out)
        }
    }

    /// Restarts the idle timeout: bytes of the body are here.
    mutating func bodyMoves(_ now: Int) { stage.wait(until: now + engine.settings.timeouts.idle) }

    /// Handles body bytes from the client.
    mutating func bodyCame(
        _ bytes: Span<UInt8>, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) -> BodyDisposition {
        let step = info.received.body.take(bytes, limit: engine.settings.limits.body)
        switch step {
        case .collect, .full:
            let lacksRoom = !mayKeep(context)
            if lacksRoom { log.tell(.unkept, out.now) }
            guard lacksRoom || step == .full && !info.keepsMore(context.stores.flows, out.seconds) else { break }
            info.received.body.stopCollecting(lacksRoom: lacksRoom)
            collected(&context, &out)
        case .exceeds: stop(.bodyTooLarge, &out)
        case .hidesMethod: stop(.hiddenMethod, &out)
        case .relay:
            log.record.requestBytes += UInt64(bytes.count)
            log.capture.requestCame(bytes, total: &out.captured)
            guard let queue = attempt.upload else { return .pass }
            queue.bytes.append(bytes)
            attempt.upload(&stage, info, limit: bounded(.max), &out)
        }
        return .used
    }

    /// Handles the end of the body.
    /// - Parameter trailers: trailer fields, each line with its line end.
    /// - Returns: `pass` when the end must be relayed, too.
    mutating func bodyEnded(trailers: [UInt8], _ context: inout ClientContext, _ out: inout CommandBuffer)
        -> BodyDisposition
    {
        info.received.body.end(trailers: trailers, isQueued: attempt.upload != nil)
        if body.isKept {
            collected(&context, &out)
            return .used
        }
        if let queue = attempt.upload {
            queue.isWhole = true
            attempt.upload(&stage, info, limit: bounded(.max), &out)
            return .used
        }
        attempt.sentWhole(&stage, info, out.now)
        return .pass
    }

    /// Counts bytes of the body that were relayed straight from the client to the origin.
    mutating func bodyPassed(_ count: UInt64, isWhole: Bool, _ now: Int) {
        info.received.body.passed(count, isWhole: isWhole)
        log.record.requestBytes += count
        log.capture.requestPassed()
        if isWhole { attempt.sentWhole(&stage, info, now) }
    }

    /// Ends the exchange because of the request's body: nothing more of it goes out, not even its end, which would complete the
    /// request.
    mutating func stop(_ error: ProxyError, _ out: inout CommandBuffer) {
        if delivery.hasBegun { cut(reset: true, &out) } else { answer(error, isLast: true, &out) }
    }

    private mutating func collected(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        if let reception = Reception.collected(&info, context.stores, out) {
            perform(reception, &context, &out)
        } else {
            classified(&context, &out)
        }
    }

    /// Whether there is room for the bytes that this exchange now keeps.
    func mayKeep(_ context: ClientContext, beside more: Int = 0) -> Bool {
        guard let share = context.share else { return true }
        var kept = body.bytes.count + more + (filters?.keptBytes ?? 0) + (attempt.body?.count ?? 0)
        if let call { kept += call.keptBytes }
        // bytes kept by a call add to those of its caller
        return share.hold(kept, of: caller ?? id, engine.settings.limits)
    }

    // MARK: the request phase

    private mutating func classified(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        info.classify(context.stores.flows, out.now)
        if engine.isTranslating, filters != nil { attempt.translateTransaction(&info, out.now) }
        if !engine.filters.isEmpty { _ = addFilters(at: .classified, out) }
        send(&context, &out)
    }

    /// Sends the client's request, or the request that a filter made of it.
    mutating func send(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        log.tell(.sent, out.now)
        perform(requestPhase.run(&info, &attempt, hasFilters: filters != nil, context, out), &context, &out)
    }

    /// Whether the exchange waits for this ticket.
    func awaits(_ ticket: WaitingTicket) -> Bool {
        ticket.kind == .limit ? requestPhase.awaitsTurn : stage.awaits(ticket)
    }

    mutating func perform(_ step: RequestPhase.Step, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch step {
        case .pass(let wasDelayed):
            if !wasDelayed { call?.tellLogin() }
            lease(&context, &out)
        case .delay(let time):
            call?.tellLogin()
            wait(.request, until: time, &out)
        case .queue(let time, let ticket):
            if let ticket { out.commands.append(.awaitTicket(id, ticket)) }
            wait(.request, until: bounded(time), &out)
        case .run(let phase): suspend(phase, &out)
        case .replace(let replacement, let wait): replace(replacement, in: .request, after: wait, &out)
        case .notCalled(let reason): end(.notCalled(reason), out.now)
        case .refuse(let wish, let milliseconds):
            let error = ProxyError.limited(by: wish, milliseconds: milliseconds)
            stage.enter(.deciding)
            if !handled(.failed(error.details), &context, &out) { answer(error, &out) }
        }
    }
}
