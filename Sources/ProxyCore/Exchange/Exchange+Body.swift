import Authorization
import HTTPCodec
import Interception

/// Takes the request's body: `RequestBody` decides what is kept, and the rest is relayed.
extension Exchange {
    /// How to handle body bytes.
    enum BodyDisposition {
        /// Relay them to the other side.
        case pass
        /// Drop them: they were used here or are no longer wanted.
        case used
    }

    /// Decides whether the body must be kept, and sends the request at once if not.
    mutating func plan(_ context: inout ClientContext, _ out: inout Outbox) {
        received.body.classifierStep = engine.classifier.begin(received.head)
        var keep = 0
        switch body.classifierStep {
        case .none: break
        case .done(let found): classification = found
        case .needsBody: keep = Classifier.bodyPeek
        }
        if keep == 0, isBodyWanted(out) { keep = engine.settings.limits.keptBody }
        if !engine.filters.isEmpty { keep = max(keep, addFilters(at: .head, out)) }
        received.body.plan(keeping: min(keep, engine.settings.limits.keptBody))
        if body.state == .collecting { return collect(&out) }
        classifyAndSend(&context, &out)
    }

    /// Waits for the body.
    mutating func collect(_ out: inout Outbox) {
        stage.enter(.collecting, until: out.now + engine.settings.timeouts.idle)
        // the request goes to the origin only after the body is here, so Usher itself sends 100 (RFC 9110 §10.1.1)
        if request.expectsContinue {
            delivery.interim(ResponseHead(status: 100, reason: "Continue"), isOwn: true, &out)
        }
    }

    /// Restarts the idle timeout when body bytes arrive.
    mutating func bodyMoves(_ now: Int) { stage.wait(until: now + engine.settings.timeouts.idle) }

    /// Handles body bytes from the client.
    mutating func bodyCame(
        _ bytes: Span<UInt8>, _ context: inout ClientContext, _ out: inout Outbox
    ) -> BodyDisposition {
        let step = received.body.take(bytes, limit: engine.settings.limits.body)
        switch step {
        case .collect, .full:
            if !mayKeep(context) {
                log.tell(.unkept, out.now)
                stopCollecting(lacksRoom: true, &context, &out)
            } else if step == .full, !keepsMore(context, out) {
                stopCollecting(lacksRoom: false, &context, &out)
            }
        case .exceeds: stop(.bodyTooLarge, &out)
        case .hidesMethod: stop(.hiddenMethod, &out)
        case .relay:
            log.record.requestBytes += UInt64(bytes.count)
            log.capture.requestCame(bytes, total: &out.captured)
            guard let queue = attempt.upload else { return .pass }
            queue.bytes.append(bytes)
            upload(&out)
        }
        return .used
    }

    /// Handles the end of the body.
    /// - Parameter trailers: trailer fields, each line with its line end.
    /// - Returns: `pass` when the end must be relayed, too.
    mutating func bodyEnded(trailers: [UInt8], _ context: inout ClientContext, _ out: inout Outbox) -> BodyDisposition {
        received.body.end(trailers: trailers, isQueued: attempt.upload != nil)
        if body.isKept {
            collected(&context, &out)
            return .used
        }
        if let queue = attempt.upload {
            queue.isWhole = true
            upload(&out)
            return .used
        }
        sentWhole(out.now)
        return .pass
    }

    /// Rejects a body with invalid framing.
    mutating func bodyBroke(_ fault: HTTPFault, _ out: inout Outbox) { stop(.broken(fault), &out) }

    /// Ends the exchange because of the request's body: nothing more of it goes out, not even its end, which would complete the
    /// request.
    mutating func stop(_ error: ProxyError, _ out: inout Outbox) {
        if delivery.hasBegun { cut(reset: true, &out) } else { answer(error, isLast: true, &out) }
    }

    /// Counts bytes of the body that were relayed straight from the client to the origin.
    mutating func bodyPassed(_ count: UInt64, isWhole: Bool, _ now: Int) {
        received.body.passed(count, isWhole: isWhole)
        log.record.requestBytes += count
        log.capture.requestPassed()
        if isWhole { sentWhole(now) }
    }

    private mutating func sentWhole(_ now: Int) {
        attempt.isSent = true
        if case .awaiting = stage.state { stage.wait(until: now + engine.settings.timeouts.response) }
    }

    private mutating func stopCollecting(
        lacksRoom: Bool, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        received.body.stopCollecting(lacksRoom: lacksRoom)
        collected(&context, &out)
    }

    private mutating func collected(_ context: inout ClientContext, _ out: inout Outbox) {
        log.record.requestBytes = body.count
        if engine.hasPages(for: request) { return takePush(context, &out) }
        if let limit = engine.settings.limits.body, body.count > limit {
            return answer(.bodyTooLarge, isLast: true, &out)
        }
        classifyAndSend(&context, &out)
    }

    /// Whether an interceptor that applies changes or reads the body, or may retry the request.
    private mutating func isBodyWanted(_ out: borrowing Outbox) -> Bool {
        guard body.framing != .none, engine.plan.keepsRequestBodies else { return false }
        return phases.keepsBody(of: request, engine.plan, EditContext(request: self, at: out.seconds))
    }

    /// Keeps more of the body when the Action depends on it and interceptors for that Action
    /// change the body.
    private mutating func keepsMore(_ context: ClientContext, _ out: borrowing Outbox) -> Bool {
        guard case .needsBody = body.classifierStep else { return false }
        classify(context)
        let limit = engine.settings.limits.keptBody
        guard body.fits(limit), isBodyWanted(out) else { return false }
        received.body.keep(upTo: limit)
        return true
    }

    private mutating func classify(_ context: ClientContext) {
        guard case .needsBody(let call) = body.classifierStep else { return }
        let found = engine.classifier.finish(
            request, call, body: body.bytes, complete: body.isKept, flows: context.stores.flows)
        classification = found
        received.body.classifierStep = .done(found)
    }

    private mutating func classifyAndSend(_ context: inout ClientContext, _ out: inout Outbox) {
        classify(context)
        if let classification, let action = classification.action {
            log.tell(
                .recognised(
                    action, realm: engine.redaction.realm(classification.realm),
                    tree: engine.redaction.tree(classification.payload), evidence: classification.evidence), out.now)
        }
        if engine.isTranslating, filters != nil { attempt.translateTransaction(of: received, engine, &log, out.now) }
        if !engine.filters.isEmpty { _ = addFilters(at: .classified, out) }
        send(&context, &out)
    }

    /// Whether there is room for the bytes that this exchange now keeps.
    func mayKeep(_ context: ClientContext, beside more: Int = 0) -> Bool {
        guard let share = context.share else { return true }
        var kept = body.bytes.count + more + (filters?.keptBytes ?? 0) + (attempt.body?.count ?? 0)
        if let call { kept += call.keptBytes }
        // bytes kept by a call add to those of its caller
        return share.hold(kept, of: caller ?? id, engine.settings.limits)
    }
}
