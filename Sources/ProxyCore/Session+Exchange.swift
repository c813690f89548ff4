import Authorization
import HTTPCodec
import Interception

/// From a complete head to a request on its way: what needs the body, what it means, who changes it, where it goes.
extension Session {
    /// Decides whether the body has to be kept, and goes on at once where it need not be.
    mutating func planExchange(_ out: inout Outbox) {
        outgoing = nil
        outgoingBody = nil
        classification = nil
        classifierStep = engine.classifier.begin(request)
        var keep = 0
        if case .needsBody = classifierStep { keep = Classifier.bodyPeek }
        if let policy = engine.authorization, let resource = policy.resource(for: request) {
            if policy.clientHandlesAdvice(request) {
                note(.note, "the client handles advice itself: it sent x-authenticate-response")
            } else {
                stepUp = StepUpState(policy: policy, resource: resource)
                if policy.refusalToReplay(request, resource, bodyComplete: true) == nil {
                    keep = max(keep, policy.maxBodyBytes)
                }
            }
        }
        keepLimit = min(keep, engine.settings.limits.keptBody)
        switch bodyState {
        case .complete:
            bodyKept = true
        case .length(let length) where keepLimit > 0 && length <= UInt64(keepLimit):
            return collectBody(&out)
        case .chunked where keepLimit > 0:
            return collectBody(&out)
        case .length, .chunked:
            break
        }
        classifyAndSend(&out)
    }

    private mutating func collectBody(_ out: inout Outbox) {
        phase = .collectingBody
        deadline = now + engine.settings.timeouts.idle
        // the origin is not asked before the body is here, so the client's question is answered here (RFC 9110 §10.1.1)
        if request.expectsContinue { out.client.append(literal: "HTTP/1.1 100 Continue\r\n\r\n") }
    }

    mutating func bodyCollected(_ out: inout Outbox) {
        bodyBytes = UInt64(body.count)
        record.requestBytes = bodyBytes
        if let limit = engine.settings.limits.body, bodyBytes > limit { return tooLarge(&out) }
        classifyAndSend(&out)
    }

    private mutating func classifyAndSend(_ out: inout Outbox) {
        phase = .exchanging
        switch classifierStep {
        case .none: break
        case .done(let found): classification = found
        case .needsBody(let call):
            classification = engine.classifier.finish(
                request, call, body: body, complete: bodyKept, flows: flows)
        }
        if let classification, let action = classification.action {
            record.action = action
            record.realm = engine.redaction.realm(classification.realm)
            record.tree = engine.redaction.tree(classification.payload)
            note(.action, "\(action.rawValue): \(classification.evidence)")
        }
        attempt(&out)
    }

    /// Sends the request: interceptors, the header that asks for advice, then the origin.
    mutating func attempt(_ out: inout Outbox) {
        record.attempts += 1
        if outgoing != nil || stepUp != nil || engine.plan.firstRequestMatch(request, classification) != nil {
            guard editRequest(&out) else { return }
        }
        // a replay that may not go out twice does not go by a connection that may have ended unseen (RFC 9110 §9.2.2)
        let goesOnce = stepUp?.original != nil && !(outgoing?.method ?? request.method).isIdempotent
        lease(.attempt, goesOnce ? .own : .any, &out)
    }

    /// Runs the request phase on a copy. False when it ended in an answer made here.
    private mutating func editRequest(_ out: inout Outbox) -> Bool {
        var head = outgoing ?? request
        switch intercept(&head) {
        case .proceed: break
        case .respond(let local, let interceptor):
            answer(local, interceptor: interceptor, &out)
            return false
        case .abort(let interceptor, let reason):
            answer(
                ProxyError("http_request_denied", status: 502, "interceptor \(interceptor) aborted: \(reason)"), &out)
            return false
        }
        if let state = stepUp, bodyKept, state.policy.offersHeader(on: head, state.resource) {
            head.fields.add(AuthorizationPolicy.offer.name, AuthorizationPolicy.offer.value)
        }
        outgoing = head
        return true
    }

    // MARK: the origin's connection

    mutating func lease(_ purpose: OriginLeg.Purpose, _ scope: LeaseScope, _ out: inout Outbox) {
        let wanted = nextOrigin(purpose)
        noteRoute(wanted)
        origin.begin(purpose, wanted)
        origin.isBinding = sendsConnectionCredentials
        deadline = bounded(now + engine.settings.timeouts.connect)
        out.orders.append(.lease(wanted, origin.isBinding && scope == .any ? .own : scope))
    }

    private var sendsConnectionCredentials: Bool {
        if let outgoing { outgoing.fields.hasConnectionCredentials } else { request.fields.hasConnectionCredentials }
    }

    /// The connection in use carries an identity from here on. For Usher's own calls it is closed after them instead.
    mutating func bindOrigin(_ out: inout Outbox) {
        origin.isBinding = true
        guard origin.purpose == .attempt else { return }
        binding.bind(for: user)
        out.orders.append(.bind)
    }

    /// The origin of the request that goes out; the last one again, without making text, where it is the same.
    private func nextOrigin(_ purpose: OriginLeg.Purpose) -> Origin {
        // what was asked for last went by the routes of its time
        let isKnown = tunnelTarget != nil || engine.settings.routes.isEmpty && origin.origin?.route == nil
        if isKnown, let last = tunnelTarget ?? origin.origin {
            if let outgoing {
                // a tunnel that bears AM's name leads where the client had it lead, and the session does not go there
                if last.matches(outgoing), purpose == .attempt || last.serverName == nil { return last }
            } else if tunnelTarget != nil {
                return last
            } else if last.matches(request) {
                return last
            }
        }
        return Origin(outgoing ?? request, engine.settings.routes)
    }

    mutating func noteRoute(_ origin: Origin) {
        if origin.route != nil { note(.note, "sent on to \(origin.peer)") }
    }

    /// No wait of a step-up goes past the time that the whole of it may take. Once the replay is being answered, the
    /// answer takes the time it takes.
    func bounded(_ time: Int) -> Int {
        guard let stepUp, stepUp.original != nil, let limit = stepUp.holdUntil else { return time }
        return min(time, limit)
    }

    /// An origin's connection stands.
    public mutating func leased(reused: Bool, now: Int, _ out: inout Outbox) {
        self.now = now
        if phase == .connecting || phase == .peeking { return tunnelConnected(&out) }
        guard origin.state == .leasing else { return releaseOrigin(reusable: true, &out) }
        origin.isReused = reused
        origin.state = .awaitingHead
        if origin.isBinding { bindOrigin(&out) }
        sendRequest(&out)
    }

    private mutating func sendRequest(_ out: inout Outbox) {
        let kept: Bool
        var forwarding: Forwarding
        if origin.purpose == .serverCall {
            kept = true
            forwarding = Forwarding(framing: .length(UInt64(outgoingBody?.count ?? 0)))
            // the next call takes a connection of its own
            forwarding.connection = "close"
        } else {
            kept = bodyKept
            switch bodyState {
            case _ where kept:
                let count = outgoingBody?.count ?? body.count
                forwarding = Forwarding(framing: count == 0 ? .none : .length(UInt64(count)))
            // whole, but without room to keep it
            case .complete: forwarding = Forwarding(framing: body.isEmpty ? .none : .length(UInt64(body.count)))
            case .length(let remaining): forwarding = Forwarding(framing: .length(remaining + UInt64(body.count)))
            case .chunked: forwarding = Forwarding(framing: .chunked)
            }
            // HTTP/1.0 knows no such expectation, and its client would not understand the answer
            forwarding.dropsExpect = kept || !body.isEmpty || request.version == .http10
        }
        origin.carriesOddBody = forwarding.framing != .none && !(outgoing?.method ?? request.method).givesBodyMeaning
        forwarding.via = engine.via(received: origin.purpose == .attempt ? request.version : .http11)
        if case .forward(let proxy) = origin.origin?.route {
            forwarding.absoluteForm = true
            forwarding.lines += proxy.credentials
        }
        offersUpgrade = origin.purpose == .attempt && (outgoing ?? request).asksForUpgrade && kept && body.isEmpty
        forwarding.upgrades = offersUpgrade
        if origin.purpose == .attempt, engine.settings.forwarded != .none {
            var head = outgoing ?? request
            forwarding.lines += forwardedLines(&head)
            head.write(to: &out.origin, forwarding)
        } else if let outgoing {
            outgoing.write(to: &out.origin, forwarding)
        } else {
            request.write(to: &out.origin, forwarding)
        }
        if kept {
            out.origin.append(contentsOf: outgoingBody ?? body)
            origin.requestSent = true
            deadline = bounded(now + engine.settings.timeouts.response)
            return
        }
        deadline = now + engine.settings.timeouts.idle
        if !body.isEmpty {
            // what was collected before it turned out that the body cannot be kept
            if bodyState == .chunked { out.origin.append(chunk: body.span) } else { out.origin.append(body.span) }
            dropBody()
            if bodyState == .complete { requestBodySent() }
        }
        if clientPending.isEmpty {
            relayRestOfRequest(&out)
        } else {
            drainClientPending(&out)
        }
        resumeClient(&out)
    }

    /// The driver has begun with a step, for which it has a time of its own.
    public mutating func leaseReached(_ step: LeaseStep, now: Int) {
        self.now = now
        guard origin.state == .leasing else { return }
        origin.step = step
        let timeouts = engine.settings.timeouts
        switch step {
        case .resolving: deadline = bounded(now + timeouts.resolve)
        case .connecting: deadline = bounded(now + timeouts.connect)
        case .securing: deadline = bounded(now + timeouts.tls)
        }
    }

    /// There is no connection to the origin.
    public mutating func leaseFailed(_ failure: LeaseFailure, now: Int, _ out: inout Outbox) {
        self.now = now
        guard let wanted = origin.origin else { return }
        // what the client may have sent for the tunnel must not be read as a request
        if phase == .connecting { closesAfter = true }
        switch (failure, origin.step) {
        case (.timedOut, .resolving): originFailed(ProxyError(.unresolved, wanted), &out)
        case (.timedOut, .securing): originFailed(.handshakeTimeout(wanted), &out)
        default: originFailed(ProxyError(failure, wanted), &out)
        }
    }

    // MARK: answers made here

    /// The exchange cannot be finished with the origin: whoever waits for it is told.
    mutating func originFailed(_ error: ProxyError, _ out: inout Outbox) {
        if stepUpFailed(error.details, &out) { return }
        if origin.state != .idle { releaseOrigin(reusable: false, &out) }
        if responseStarted {
            record.proxyError = error.token
            note(.note, error.details)
            return abandon(reset: true, &out)
        }
        answer(error, &out)
    }

    /// Answers in the origin's place.
    mutating func answer(_ error: ProxyError, _ out: inout Outbox) {
        if bodyState != .complete { closesAfter = true }
        record.proxyError = error.token
        record.status = error.status
        note(.note, error.details)
        let before = out.client.count
        var error = error
        error.details = engine.redaction.text(error.details)
        // a step-up may have replaced the session before the exchange failed
        for line in cookieLines { error.fields.append("Set-Cookie: \(line)") }
        OwnAnswer.write(error, flow: record.flow, to: request, closing: closesAfter, into: &out)
        record.responseBytes += UInt64(out.client.count - before)
        finishExchange(&out)
    }

    mutating func answer(_ local: LocalAnswer, interceptor: String, _ out: inout Outbox) {
        if bodyState != .complete { closesAfter = true }
        record.status = local.status
        OwnAnswer.write(
            local, interceptor: interceptor, flow: record.flow, head: request.method == .head, closing: closesAfter,
            into: &out)
        record.responseBytes += UInt64(local.body.count)
        finishExchange(&out)
    }
}
