import HTTPCodec
import Interception

/// Orders the connection of an attempt, and sends the request on it.
extension Attempt {
    /// What has gone out of a request.
    enum Sent {
        /// The whole request.
        case whole
        /// The head; its body goes out at a limited rate.
        case paced
        /// The head, and the part of the body that is here.
        case part
    }

    // MARK: the connection

    /// Whether sending the request a second time is safe when it is unknown whether the first arrived.
    func mayGoTwice(_ received: borrowing ReceivedRequest) -> Bool {
        received.body.isKept && (head?.method ?? received.head.method).isIdempotent
    }

    /// The connections that may carry the request.
    /// - Parameter isReplay: a response of an earlier attempt is kept.
    private func scope(isReplay: Bool, _ info: borrowing ExchangeInfo) -> LeaseScope {
        // AM performs a call only once, and an idle connection may have closed unnoticed; a replay that must not go out
        // twice avoids idle connections for the same reason (RFC 9110 §9.2.2)
        let goesOnce = isReplay && !(head?.method ?? info.received.head.method).isIdempotent
        return info.terms.isCall ? .recent : goesOnce ? .own : mayGoTwice(info.received) ? .any : .heard
    }

    /// Orders a connection for a request that has passed its phase, unless a filter has something else in mind.
    /// - Parameter scope: the connections that may be used, when already decided.
    mutating func lease(
        by scope: LeaseScope? = nil, _ info: inout ExchangeInfo, _ context: inout ClientContext,
        _ out: inout CommandBuffer
    ) -> Step {
        if info.engine.isEnforcing, info.terms.isGuarded,
            let refusal = info.engine.refusal(of: self, info.received, asking: info.filters?.enforcing)
        {
            return .refuse(refusal)
        }
        if info.filters != nil {
            let plain = sent(info.received.head)
            var head = plain
            let action = info.ask(self, context, out) { filters, surroundings in
                if let action = filters.ready(&head, &surroundings) { return action }
                filters.leaving(&head, &surroundings)
                return nil
            }
            if let action { return .act(action) }
            self.plain = plain
            self.head = head
        }
        if let failure = wishes.lost.flatMap(LeaseFailure.init) {
            return .failed(ProxyError(failure, destination(info, context)))
        }
        order(scope ?? self.scope(isReplay: info.filters?.keepsResponse == true, info), &info, &context, &out)
        info.stage.enter(
            .leasing(.connecting), until: info.bounded(out.now + info.engine.settings.timeouts.connect))
        return .nothing
    }

    /// Orders a connection to the request's origin.
    private mutating func order(
        _ scope: LeaseScope, _ info: inout ExchangeInfo, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) {
        let wanted = destination(info, context)
        if wanted.route != nil { info.log.tell(.routed(by: wanted.peer), out.now) }
        begin(wanted)
        startTimeout(&out)
        isBinding = head?.fields.hasConnectionCredentials ?? info.received.head.fields.hasConnectionCredentials
        context.lastOrigin = wanted
        var scope = isBinding && scope != .new ? .own : scope
        if let user = info.log.record.user, context.binding.isAnothers(than: user) { scope = .new }
        out.commands.append(.lease(info.id, wanted, scope, version(info)))
    }

    /// Starts the timeout that an interceptor set for the request. An unasked retry keeps what is left of it.
    private mutating func startTimeout(_ out: inout CommandBuffer) {
        guard let wish = wishes.timeout, wishes.answerLimit == nil else { return }
        wishes.answerLimit = out.now + wish.milliseconds
        out.commands.append(.wake(at: out.now + wish.milliseconds))
    }

    /// The connection is here.
    /// - Parameters:
    ///   - isReused: it has served another request before.
    ///   - sendsRaw: body bytes may be relayed to the origin unread.
    mutating func leased(
        isReused: Bool, sendsRaw: Bool, _ info: borrowing ExchangeInfo, _ context: inout ClientContext,
        _ out: inout CommandBuffer
    ) {
        lease.isReused = isReused
        lease.isStream = !sendsRaw
        lease.sendsRaw = sendsRaw && wishes.rate == nil && !info.received.body.isSearched
        lease.bindings = context.binding.changes
        if isBinding, !info.terms.isCall { bind(info, to: &context, &out) }
    }

    /// Marks the connection in use as carrying the client's identity.
    private mutating func bind(
        _ info: borrowing ExchangeInfo, to context: inout ClientContext, _ out: inout CommandBuffer
    ) {
        if context.binding.bind(for: info.log.record.user) { out.commands.append(.unbind) }
        lease.bindings = context.binding.changes
        out.commands.append(.bind(info.id))
    }

    /// The response asks the client to authenticate its connection: from now on it carries the client's identity.
    mutating func challenged(_ info: borrowing ExchangeInfo, _ context: inout ClientContext, _ out: inout CommandBuffer)
    {
        isBinding = true
        if !info.terms.isCall { bind(info, to: &context, &out) }
    }

    /// Whether the connection may serve this client again, by the known owner of its identity: several users may send
    /// streams on one client connection.
    func isStillBound(_ context: borrowing ClientContext) -> Bool { lease.bindings == context.binding.changes }

    // MARK: the request

    /// Sends the head, and the part of the body that is here.
    mutating func send(
        _ info: inout ExchangeInfo, _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> Sent {
        info.log.capture.sends(head, body, out.now)
        let framing = self.framing(info)
        out.send(outgoingHead(framing, from: context.source, info), of: info.id)
        if let rate = wishes.rate, framing != .none {
            upload = PacedRequest(
                rate: rate, body ?? info.received.body.bytes, isWhole: info.received.body.isKept, now: out.now)
            if !info.received.body.isKept { forgetBody(&info, context, &out) }
            return .paced
        }
        if info.received.body.isKept {
            let bytes = body ?? info.received.body.bytes
            out.send(bytes.span, of: info.id)
            out.commands.append(.sendEnd(info.id, trailers: trailers(info)))
            isSent = true
            return .whole
        }
        // these bytes were collected before the body turned out too large to keep; no filter needs them now
        out.send(info.received.body.bytes.span, of: info.id)
        forgetBody(&info, context, &out)
        return .part
    }

    private func forgetBody(
        _ info: inout ExchangeInfo, _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) {
        info.log.capture.requestCame(info.received.body.bytes.span, total: &out.captured)
        info.received.body.forget()
        context.share?.letGo(of: info.id)
    }

    /// Whether to resend the request before any byte of a response. The origin must have refused it unprocessed, or else a
    /// pooled connection was stale and the method is idempotent (RFC 9110 §9.2.2).
    func mayRepeat(_ info: borrowing ExchangeInfo, after ending: StreamEnding) -> Bool {
        let limit = max(1, info.engine.settings.limits.retries)
        guard !hasAnswered, info.received.body.isKept, info.retries.total < limit else { return false }
        switch ending {
        case .reset(let code): return code == .refused
        case .connection, .silence: return lease.isReused && mayGoTwice(info.received)
        }
    }

    // MARK: a paced body

    /// Sends the part of a paced body that is due.
    /// - Returns: whether bytes went out, and whether the request is complete now.
    mutating func sendDue(_ info: borrowing ExchangeInfo, _ out: inout CommandBuffer) -> (moved: Bool, isWhole: Bool) {
        guard let upload else { return (false, false) }
        let bytes = upload.bytes.take(out.now)
        out.send(bytes.span, of: info.id)
        if let next = upload.bytes.next(out.now) {
            out.commands.append(.wake(at: next))
        } else if upload.isWhole {
            self.upload = nil
            out.commands.append(.sendEnd(info.id, trailers: trailers(info)))
            isSent = true
            return (!bytes.isEmpty, true)
        }
        return (!bytes.isEmpty, false)
    }
}
