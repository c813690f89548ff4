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
    func scope(of received: borrowing ReceivedRequest, isReplay: Bool, _ terms: RouterTerms) -> LeaseScope {
        // AM performs a call only once, and an idle connection may have closed unnoticed; a replay that must not go out
        // twice avoids idle connections for the same reason (RFC 9110 §9.2.2)
        let goesOnce = isReplay && !(head?.method ?? received.head.method).isIdempotent
        return terms.isCall ? .recent : goesOnce ? .own : mayGoTwice(received) ? .any : .heard
    }

    /// Orders a connection to the request's origin.
    mutating func orderLease(
        _ scope: LeaseScope, for received: borrowing ReceivedRequest, of id: ExchangeID, _ context: inout ClientContext,
        _ engine: Engine, _ terms: RouterTerms, _ log: inout ExchangeLog, _ out: inout Outbox
    ) {
        let wanted = destination(of: received, context, engine, terms)
        if wanted.route != nil { log.tell(.routed(by: wanted.peer), out.now) }
        begin(wanted)
        startTimeout(&out)
        isBinding = head?.fields.hasConnectionCredentials ?? received.head.fields.hasConnectionCredentials
        context.lastOrigin = wanted
        var scope = isBinding && scope != .new ? .own : scope
        if let user = log.record.user, context.binding.isAnothers(than: user) { scope = .new }
        out.orders.append(.lease(id, wanted, scope, version(of: received, engine, terms)))
    }

    /// Starts the timeout that an interceptor set for the request. An unasked retry keeps what is left of it.
    private mutating func startTimeout(_ out: inout Outbox) {
        guard let wish = wishes.timeout, wishes.answerLimit == nil else { return }
        wishes.answerLimit = out.now + wish.milliseconds
        out.orders.append(.wake(at: out.now + wish.milliseconds))
    }

    /// The connection is here.
    /// - Parameters:
    ///   - isReused: it has served another request before.
    ///   - sendsRaw: body bytes may be relayed to the origin unread.
    mutating func leased(
        isReused: Bool, sendsRaw: Bool, for received: borrowing ReceivedRequest, of id: ExchangeID,
        _ context: inout ClientContext, _ terms: RouterTerms, user: String?, _ out: inout Outbox
    ) {
        lease.isReused = isReused
        lease.isStream = !sendsRaw
        lease.sendsRaw = sendsRaw && wishes.rate == nil && !received.body.isSearched
        lease.bindings = context.binding.changes
        if isBinding, !terms.isCall { bind(to: &context, of: id, user: user, &out) }
    }

    /// Marks the connection in use as carrying the client's identity.
    private mutating func bind(to context: inout ClientContext, of id: ExchangeID, user: String?, _ out: inout Outbox) {
        if context.binding.bind(for: user) { out.orders.append(.unbind) }
        lease.bindings = context.binding.changes
        out.orders.append(.bind(id))
    }

    /// The response asks the client to authenticate its connection: from now on it carries the client's identity.
    mutating func challenged(
        _ context: inout ClientContext, of id: ExchangeID, _ terms: RouterTerms, user: String?, _ out: inout Outbox
    ) {
        isBinding = true
        if !terms.isCall { bind(to: &context, of: id, user: user, &out) }
    }

    /// Whether the connection may serve this client again, by the known owner of its identity: several users may send
    /// streams on one client connection.
    func isStillBound(_ context: borrowing ClientContext) -> Bool { lease.bindings == context.binding.changes }

    // MARK: the request

    /// Sends the head, and the part of the body that is here.
    mutating func send(
        _ received: inout ReceivedRequest, of id: ExchangeID, _ context: borrowing ClientContext, _ engine: Engine,
        _ terms: RouterTerms, _ log: borrowing ExchangeLog, _ out: inout Outbox
    ) -> Sent {
        log.capture.sends(head, body, out.now)
        let framing = self.framing(of: received, engine, terms)
        out.send(outgoingHead(of: received, framing, from: context.source, engine, terms, log), of: id)
        if let rate = wishes.rate, framing != .none {
            upload = PacedRequest(
                rate: rate, body ?? received.body.bytes, isWhole: received.body.isKept, now: out.now)
            if !received.body.isKept { forget(&received.body, of: id, context, log, &out) }
            return .paced
        }
        if received.body.isKept {
            let bytes = body ?? received.body.bytes
            out.send(bytes.span, of: id)
            out.orders.append(.sendEnd(id, trailers: trailers(of: received, engine)))
            isSent = true
            return .whole
        }
        // these bytes were collected before the body turned out too large to keep; no filter needs them now
        out.send(received.body.bytes.span, of: id)
        forget(&received.body, of: id, context, log, &out)
        return .part
    }

    private func forget(
        _ body: inout RequestBody, of id: ExchangeID, _ context: borrowing ClientContext,
        _ log: borrowing ExchangeLog, _ out: inout Outbox
    ) {
        log.capture.requestCame(body.bytes.span, total: &out.captured)
        body.forget()
        context.share?.letGo(of: id)
    }

    /// Whether to resend the request before any byte of a response. The origin must have refused it unprocessed, or else a
    /// pooled connection was stale and the method is idempotent (RFC 9110 §9.2.2).
    func mayRepeat(
        _ received: borrowing ReceivedRequest, after ending: StreamEnding, retries: Int, limit: Int
    ) -> Bool {
        guard !hasAnswered, received.body.isKept, retries < max(1, limit) else { return false }
        switch ending {
        case .reset(let code): return code == .refused
        case .connection, .silence: return lease.isReused && mayGoTwice(received)
        }
    }

    // MARK: a paced body

    /// Sends the part of a paced body that is due.
    /// - Returns: whether bytes went out, and whether the request is complete now.
    mutating func sendUpload(
        _ received: borrowing ReceivedRequest, of id: ExchangeID, _ engine: Engine, _ out: inout Outbox
    ) -> (moved: Bool, isWhole: Bool) {
        guard let upload else { return (false, false) }
        let bytes = upload.bytes.take(out.now)
        out.send(bytes.span, of: id)
        if let next = upload.bytes.next(out.now) {
            out.orders.append(.wake(at: next))
        } else if upload.isWhole {
            self.upload = nil
            out.orders.append(.sendEnd(id, trailers: trailers(of: received, engine)))
            isSent = true
            return (!bytes.isEmpty, true)
        }
        return (!bytes.isEmpty, false)
    }
}
