import Authorization
import HTTPCodec
import Interception

/// One sending of the request: interceptors, the origin's connection, the head.
extension Exchange {
    /// Sends the client's request, or what a filter made of it.
    mutating func send(_ context: inout ClientContext, _ out: inout Outbox) {
        tell(.sent, out.now)
        if attempt.head != nil || filters != nil || engine.plan.firstRequestMatch(request, classification) != nil {
            return editAndLease(&context, &out)
        }
        leaseForSending(&context, &out)
    }

    /// Runs the request phase on a copy, and goes on from there.
    private mutating func editAndLease(_ context: inout ClientContext, _ out: inout Outbox) {
        var head = attempt.head ?? request
        let outcome = intercept(&head, out)
        edited(head, outcome, &context, &out)
    }

    /// The request phase has come to that.
    mutating func edited(
        _ head: RequestHead, _ outcome: Outcome, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        attempt.wishes.ending = outcome.ending
        switch outcome.verdict {
        case .proceed:
            attempt.head = head
            attempt.wishes.rate = outcome.rate
            attempt.wishes.timeout = outcome.timeout
        case .suspend(let suspension): return suspend(.request(head), suspension, outcome, &out)
        case .respond, .breaks: break
        case .abort(let interceptor, let reason):
            return answer(.aborted(.request, by: interceptor, reason), &out)
        }
        if outcome.limits.isEmpty { return goOn(outcome, &context, &out) }
        pass(LimitPassage(outcome), &context, &out)
    }

    /// Does what the request phase came to.
    mutating func goOn(_ outcome: Outcome, _ context: inout ClientContext, _ out: inout Outbox) {
        switch outcome.verdict {
        case .respond(let local, let interceptor):
            answer(local, interceptor: interceptor, after: drawn(outcome.delays, out.now), &out)
        case .breaks(let breakage, let interceptor):
            breaks(breakage, interceptor: interceptor, after: drawn(outcome.delays, out.now), &out)
        case .proceed, .abort, .suspend:
            if let call, call.call.carriesAnswers { call.login?.tell() }
            leaseForSending(after: drawn(outcome.delays, out.now), &context, &out)
        }
    }

    /// - Parameters:
    ///   - wait: in milliseconds, at an interceptor's wish.
    ///   - scope: which connections will do, where that is settled.
    mutating func leaseForSending(
        after wait: Int = 0, by scope: LeaseScope? = nil, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        if wait > 0 { return pause(.send, for: wait, &out) }
        if engine.isEnforcing, !isCall, let field = engine.hiddenURL(in: attempt.head ?? request) {
            return answer(.hiddenURL(field, (attempt.head ?? request).host), &out)
        }
        // interceptors may have led it to where AM has to be asked, and nobody asks
        if engine.isEnforcing, !isCall, let head = attempt.head, let covered = engine.stepUp(for: head, body.framing),
            covered.isEnforced, filters?.enforcing?.asks(like: covered.policy) != true
        {
            return answer(.unasked(head.host), &out)
        }
        if filters != nil, !isReady(&context, &out) { return }
        // what AM does by a call it does not do twice, and an idle connection may have ended unseen; a replay that may not
        // go out twice does not go by such a one either (RFC 9110 §9.2.2)
        let goesOnce = filters?.keepsResponse == true && !(attempt.head?.method ?? request.method).isIdempotent
        lease(scope ?? (isCall ? .new : goesOnce ? .own : mayGoTwice ? .any : .heard), &context, &out)
    }

    // MARK: interceptors

    /// Runs the request phase on a request that is about to go out. What happened is noted.
    mutating func intercept(_ head: inout RequestHead, _ out: borrowing Outbox) -> Outcome {
        let plan = engine.plan
        guard let first = plan.firstRequestMatch(head, classification) else { return Outcome() }
        var context = editContext(out)
        guard plan.needsRequestBody(from: first, head, &context) else {
            let outcome = plan.applyRequest(from: first, to: &head, &context)
            state = context.state
            tell(of: outcome, .request, out.now)
            return outcome
        }
        let made = plan.applyRequest(from: first, to: &head, body: arrivedBody, &context)
        state = context.state
        if case .replaced(let bytes) = made.body { attempt.body = bytes }
        tell(of: made.outcome, .request, out.now)
        return made.outcome
    }

    /// What interceptors know of this exchange.
    func editContext(_ out: borrowing Outbox) -> EditContext {
        EditContext(
            classification, state: state, time: out.seconds, bodyLimit: engine.settings.limits.keptBody,
            chance: engine.chance, issuer: call?.issuer)
    }

    /// The same in the response phase.
    func responseContext(_ out: borrowing Outbox) -> EditContext {
        var context = editContext(out)
        context.sentBody = arrivedBody
        if engine.plan.runsResponseCode {
            context.basis =
                (engine.settings.chain.editsPersist ? attempt.plain ?? attempt.head : attempt.basis?.head) ?? request
        }
        return context
    }

    var arrivedBody: EditedBody.Arrival {
        if body.isKept { return .whole(attempt.body ?? body.bytes) }
        return body.lacksRoom ? .noRoom : .overLimit
    }

    /// A phase that waits is told of when it has come to its end.
    mutating func tell(of outcome: borrowing Outcome, _ phase: PhaseJudgement.Phase, _ now: Int) {
        if case .suspend = outcome.verdict { return }
        if let judgement = outcome.judgement { tell(.judged(judgement), now) }
        for change in outcome.changes { tell(.edited(change, in: phase), now) }
        for warning in outcome.warnings { tell(.warned(warning, in: phase), now) }
        for wish in outcome.throttles { tell(.throttled(interceptor: wish.interceptor, rate: wish.rate), now) }
        for logged in outcome.logged {
            tell(.logged(interceptor: logged.interceptor, engine.redaction.line(logged)), now)
        }
        if case .respond(let local, let interceptor) = outcome.verdict {
            tell(.responded(interceptor: interceptor, status: local.status), now)
        }
    }

    // MARK: the origin's connection

    mutating func lease(_ scope: LeaseScope, _ context: inout ClientContext, _ out: inout Outbox) {
        let wanted = nextOrigin(context)
        noteRoute(wanted, out.now)
        attempt.begin(wanted)
        limitAnswer(&out)
        attempt.isBinding = attempt.head?.fields.hasConnectionCredentials ?? request.fields.hasConnectionCredentials
        context.lastOrigin = wanted
        enter(.leasing(.connecting), until: bounded(out.now + engine.settings.timeouts.connect))
        var scope = attempt.isBinding && scope != .new ? .own : scope
        if !isCall, let user = record.user, context.binding.isAnothers(than: user) { scope = .new }
        let isUpgrade = !isCall && engine.mayUpgrade(attempt.head ?? request)
        out.orders.append(.lease(id, wanted, scope, version(isUpgrade)))
    }

    private func version(_ isUpgrade: Bool) -> LeaseVersion {
        if isUpgrade { return attempt.isBinding ? .http1 : .upgrade }
        return attempt.isBinding ? .oldest : .any
    }

    /// The origin of the request that goes out; the last one again, without making text, where it is the same.
    private func nextOrigin(_ context: ClientContext) -> Origin {
        // what was asked for last went by the routes of its time
        let isKnown =
            context.tunnel != nil || engine.settings.routes.isEmpty && context.lastOrigin?.route == nil
        if isKnown, let last = context.tunnel ?? context.lastOrigin {
            if let head = attempt.head {
                // a tunnel that bears AM's name leads where the client had it lead, and the session does not go there
                if last.matches(head), last.serverName == nil || !isCall { return last }
            } else if context.tunnel != nil {
                return last
            } else if last.matches(request) {
                return last
            }
        }
        return Origin(attempt.head ?? request, engine.settings.routes)
    }

    mutating func noteRoute(_ origin: Origin, _ now: Int) {
        if origin.route != nil { tell(.routed(by: origin.peer), now) }
    }

    /// The connection in use carries an identity from here on. For Usher's own calls it is closed after them instead.
    private mutating func bindOrigin(_ context: inout ClientContext, _ out: inout Outbox) {
        attempt.isBinding = true
        guard !isCall else { return }
        bind(&context, &out)
    }

    mutating func bind(_ context: inout ClientContext, _ out: inout Outbox) {
        if context.binding.bind(for: record.user) { out.orders.append(.unbind) }
        attempt.lease.bindings = context.binding.changes
        out.orders.append(.bind(id))
    }

    /// The connection may serve this client again, as far as it is known whose identity it carries: streams of several users
    /// may share one of the client's.
    func isStillBound(_ context: ClientContext) -> Bool { attempt.lease.bindings == context.binding.changes }

    /// - Parameter sendsRaw: body bytes may be passed on to the origin as they are.
    mutating func leased(
        reused: Bool, sendsRaw: Bool, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        guard case .leasing = stage else { return out.orders.append(.release(id, reusable: true)) }
        attempt.lease.isReused = reused
        attempt.lease.isStream = !sendsRaw
        beginSearch()
        attempt.lease.sendsRaw = sendsRaw && attempt.wishes.rate == nil && body.search == nil
        attempt.lease.bindings = context.binding.changes
        if attempt.isBinding { bindOrigin(&context, &out) }
        let kept = body.bytes
        guard isPassable(kept.span, &out) else { return }
        sendHead(context, &out)
    }

    private mutating func sendHead(_ context: ClientContext, _ out: inout Outbox) {
        capture.sends(attempt.head, attempt.body, out.now)
        let framing = sentFraming
        out.send(outgoingHead(framing, context), of: id)
        let timeouts = engine.settings.timeouts
        if let rate = attempt.wishes.rate, framing != .none {
            attempt.upload = PacedRequest(
                rate: rate, attempt.body ?? body.bytes, isWhole: body.isKept, now: out.now)
            enter(.awaiting, until: bounded(out.now + timeouts.idle))
            if !body.isKept { forgetBody(context, &out) }
            letUp(&out)
        } else if body.isKept {
            let bytes = attempt.body ?? body.bytes
            enter(.awaiting, until: bounded(out.now + timeouts.response))
            out.send(bytes.span, of: id)
            out.orders.append(.sendEnd(id, trailers: trailers))
            attempt.isSent = true
        } else {
            // what was collected before it turned out that the body cannot be kept; nobody asks for it again
            out.send(body.bytes.span, of: id)
            forgetBody(context, &out)
            enter(.awaiting, until: out.now + timeouts.idle)
        }
    }

    /// How the body goes out.
    private var sentFraming: BodyFraming {
        guard body.isKept else { return body.framing }
        guard trailers.isEmpty else { return .chunked }
        let count = attempt.body?.count ?? body.bytes.count
        return count == 0 && !isCall ? .none : .length(UInt64(count))
    }

    private mutating func outgoingHead(_ framing: BodyFraming, _ context: ClientContext) -> OutgoingHead {
        // made in its place, for a head is large
        var made = OutgoingHead(head: attempt.head ?? request, forwarding: Forwarding(framing: framing))
        if isCall {
            // the next call takes a connection of its own
            made.forwarding.connection = "close"
        } else {
            // HTTP/1.0 knows no such expectation, and its client would not understand the answer
            made.forwarding.dropsExpect = body.isKept || !body.bytes.isEmpty || request.version == .http10
        }
        made.forwarding.via = engine.via(received: isCall ? .http11 : request.version)
        if case .forward(let proxy) = attempt.origin?.route {
            made.forwarding.absoluteForm = true
            made.forwarding.lines += proxy.credentials
        }
        attempt.offersUpgrade = !isCall && engine.mayUpgrade(made.head) && framing == .none
        made.forwarding.upgrades = attempt.offersUpgrade
        if attempt.offersUpgrade, WebSocketKey.isMissing(in: made.head) {
            let key = WebSocketKey()
            attempt.socketKey = key
            made.head.fields.set(WebSocketKey.name, key.text)
        }
        if !isCall, engine.settings.disclosure.forwarded != .none, let address = context.source.address {
            made.forwarding.lines += ForwardedElement(
                client: address, by: context.source.local, scheme: request.target.scheme,
                host: request.fields.text(request.target.authority)
            ).take(engine.settings.disclosure.forwarded, from: &made.head)
        }
        if record.trace != nil { showTrace(in: &made.head) }
        return made
    }

    /// What came behind the body goes out behind it: not where another one takes its place.
    var trailers: [UInt8] {
        guard !body.trailers.isEmpty, let sent = attempt.body, sent != body.bytes else { return passed(body.trailers) }
        return []
    }

    /// What of trailers goes out: nothing of them where AM is asked, for servers may take them for fields of the head.
    func passed(_ trailers: [UInt8]) -> [UInt8] {
        guard engine.isEnforcing, !trailers.isEmpty else { return trailers }
        let target = (attempt.head ?? request).target
        return engine.enforces(target.scheme, (attempt.head ?? request).host, port: target.port) ? [] : trailers
    }

    private mutating func forgetBody(_ context: ClientContext, _ out: inout Outbox) {
        capture.requestCame(body.bytes.span, total: &out.captured)
        body.bytes = []
        context.share?.letGo(of: id)
    }

    /// The driver has begun with a step, for which it has a time of its own.
    mutating func leaseReached(_ step: LeaseStep, _ now: Int) {
        guard case .leasing = stage else { return }
        capture.reached(step, now)
        enter(.leasing(step), until: bounded(now + engine.settings.timeouts.of(step)))
    }

    /// There is no connection to the origin.
    mutating func leaseFailed(_ failure: LeaseFailure, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .leasing(let step) = stage, let wanted = attempt.origin else { return }
        failed(ProxyError(failure, at: step, wanted), &context, &out)
    }
}

extension Timeouts {
    func of(_ step: LeaseStep) -> Int {
        switch step {
        case .resolving: resolve
        case .connecting: connect
        case .securing: tls
        }
    }
}

extension ProxyError {
    init(_ failure: LeaseFailure, at step: LeaseStep, _ wanted: Origin) {
        switch (failure, step) {
        case (.timedOut, .resolving): self.init(.unresolved, wanted)
        case (.timedOut, .securing): self = .handshakeTimeout(wanted)
        default: self.init(failure, wanted)
        }
    }
}
