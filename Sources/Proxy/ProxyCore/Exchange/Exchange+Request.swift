import HTTPCodec
import Interception

/// Takes the request from its head to the way out.
extension Exchange {
    /// Begins with the request in `request`, whose body has this framing.
    mutating func begin(_ framing: BodyFraming, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        perform(Reception.begin(framing, &info, &context, date: out.date), &context, &out)
    }

    /// Runs a filter's call: like any exchange, but without filters.
    mutating func beginCall(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        info.receiveCall(out.now)
        perform(requestPhase.run(&info, &attempt, context, &out), &context, &out)
    }

    mutating func perform(_ reception: Reception, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch reception {
        case .authenticates(let check):
            info.stage.enter(.authenticating, until: out.now + PasswordGate.longestCheck)
            out.commands.append(.authenticate(id, check))
        case .proceeds: planBody(&context, &out)
        case .answered(let local): responsePhase.answer(local, &info, &out)
        case .refused(let error, let isLast):
            info.logUser(refusedBy: error, out.now)
            answer(error, isLast: isLast, &out)
        case .tunnel:
            if let testSession = info.testSession { context.testSession = testSession.id }
            info.log.tell(.sent, out.now)
            info.stage.enter(.tunnelling, until: .max)
            out.clientCommands.append(.connect)
        case .ownTunnel(let origin):
            context.tunnel = origin
            info.log.tell(.delivered(status: 200), out.now)
            out.clientCommands.append(.openOwnPages)
            info.end(.complete, out.now)
        case .push:
            info.received.body.collect(upTo: PushDelivery.largest)
            collect(&out)
        }
    }

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
        if !engine.filters.isEmpty { keep = max(keep, info.addFilters(at: .head, attempt, out)) }
        info.received.body.plan(keeping: min(keep, engine.settings.limits.keptBody))
        if body.state == .collecting { return collect(&out) }
        classified(&context, &out)
    }

    /// Waits for the body.
    private mutating func collect(_ out: inout CommandBuffer) {
        info.stage.enter(.collecting, until: out.now + engine.settings.timeouts.idle)
        // the request goes to the origin only after the body is here, so Usher itself sends 100 (RFC 9110 §10.1.1)
        if request.expectsContinue {
            responsePhase.delivery.interim(ResponseHead(status: 100, reason: "Continue"), isOwn: true, &out)
        }
    }

    /// Restarts the idle timeout: bytes of the body are here.
    mutating func bodyMoves(_ now: Int) { info.stage.wait(until: now + engine.settings.timeouts.idle) }

    /// Handles body bytes from the client.
    mutating func bodyCame(
        _ bytes: Span<UInt8>, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) -> BodyDisposition {
        let step = info.received.body.take(bytes, limit: engine.settings.limits.body)
        switch step {
        case .collect, .full:
            let lacksRoom = !info.mayKeep(context, attempt)
            if lacksRoom { info.log.tell(.unkept, out.now) }
            guard lacksRoom || step == .full && !info.keepsMore(info.stores(context).flows, out.seconds) else { break }
            info.received.body.stopCollecting(lacksRoom: lacksRoom)
            collected(&context, &out)
        case .exceeds: stop(.bodyTooLarge, &out)
        case .hidesMethod: stop(.hiddenMethod, &out)
        case .relay:
            info.log.record.requestBytes += UInt64(bytes.count)
            info.log.capture.requestCame(bytes, total: &out.captured)
            guard let queue = attempt.upload else { return .pass }
            queue.bytes.append(bytes)
            attempt.sendUpload(&info, &out)
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
            attempt.sendUpload(&info, &out)
            return .used
        }
        attempt.sentWhole(&info, out.now)
        return .pass
    }

    /// Counts bytes of the body that were relayed straight from the client to the origin.
    mutating func bodyPassed(_ count: UInt64, isWhole: Bool, _ now: Int) {
        info.received.body.passed(count, isWhole: isWhole)
        info.log.record.requestBytes += count
        info.log.capture.requestPassed()
        if isWhole { attempt.sentWhole(&info, now) }
    }

    /// Ends the exchange because of the request's body: nothing more of it goes out, not even its end, which would complete the
    /// request.
    mutating func stop(_ error: ProxyError, _ out: inout CommandBuffer) {
        if responsePhase.delivery.hasBegun { cut(reset: true, &out) } else { answer(error, isLast: true, &out) }
    }

    private mutating func collected(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        if let reception = Reception.collected(&info, info.stores(context), out) {
            perform(reception, &context, &out)
        } else {
            classified(&context, &out)
        }
    }

    // MARK: the request phase

    private mutating func classified(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        info.classify(info.stores(context).flows, out.now)
        if engine.isTranslating, info.filters != nil { attempt.translateTransaction(&info, out.now) }
        if !engine.filters.isEmpty { _ = info.addFilters(at: .classified, attempt, out) }
        send(&context, &out)
    }

    /// Sends the client's request, or the request that a filter made of it.
    mutating func send(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        info.log.tell(.sent, out.now)
        perform(requestPhase.run(&info, &attempt, context, &out), &context, &out)
    }

    mutating func perform(_ step: RequestPhase.Step, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch step {
        case .nothing: break
        case .pass: perform(attempt.lease(&info, &context, &out), &context, &out)
        case .replace(let replacement, let wait):
            responsePhase.replace(replacement, in: .request, after: wait, &info, attempt, &out)
        case .refuse(let error):
            info.stage.enter(.deciding)
            if !handled(.failed(error.details), &context, &out) { answer(error, &out) }
        }
    }
}
