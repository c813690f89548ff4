import Authorization
import HTTPCodec
import Interception

/// One sending of the request: the origin's connection, and the request on it.
extension Exchange {
    /// Orders a connection for a request that has passed its phase, unless a filter has something else in mind.
    /// - Parameter scope: the connections that may be used, when already decided.
    mutating func lease(by scope: LeaseScope? = nil, _ context: inout ClientContext, _ out: inout Outbox) {
        if engine.isEnforcing, terms.isGuarded,
            let refusal = engine.refusal(of: attempt, received, asking: filters?.enforcing)
        {
            return answer(refusal, &out)
        }
        if filters != nil, !isReady(&context, &out) { return }
        let scope = scope ?? attempt.scope(of: received, isReplay: filters?.keepsResponse == true, terms)
        attempt.orderLease(scope, for: received, of: id, &context, engine, terms, &log, &out)
        stage.enter(.leasing(.connecting), until: bounded(out.now + engine.settings.timeouts.connect))
    }

    /// - Parameter sendsRaw: body bytes may be relayed to the origin unread.
    mutating func leased(
        reused: Bool, sendsRaw: Bool, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        guard case .leasing = stage.state else { return out.orders.append(.release(id, reusable: true)) }
        received.body.search(for: filters?.enforcing == nil ? nil : sentHead)
        attempt.leased(
            isReused: reused, sendsRaw: sendsRaw, for: received, of: id, &context, terms, user: log.record.user, &out)
        if received.body.hidesMethod() { return stop(.hiddenMethod, &out) }
        let timeouts = engine.settings.timeouts
        switch attempt.send(&received, of: id, context, engine, terms, log, &out) {
        case .whole: stage.enter(.awaiting, until: bounded(out.now + timeouts.response))
        case .part: stage.enter(.awaiting, until: out.now + timeouts.idle)
        case .paced:
            stage.enter(.awaiting, until: bounded(out.now + timeouts.idle))
            upload(&out)
        }
    }

    /// Sends the origin the part of a paced request body that is due.
    mutating func upload(_ out: inout Outbox) {
        let sent = attempt.sendUpload(received, of: id, engine, &out)
        guard case .awaiting = stage.state else { return }
        if sent.moved { stage.wait(until: bounded(out.now + engine.settings.timeouts.idle)) }
        if sent.isWhole { stage.wait(until: out.now + engine.settings.timeouts.response) }
    }

    /// The driver has begun a step of the lease, which has its own timeout.
    mutating func leaseReached(_ step: LeaseStep, _ now: Int) {
        guard case .leasing = stage.state else { return }
        log.capture.reached(step, now)
        stage.enter(.leasing(step), until: bounded(now + engine.settings.timeouts.of(step)))
    }

    /// The driver could not connect to the origin.
    mutating func leaseFailed(_ failure: LeaseFailure, _ context: inout ClientContext, _ out: inout Outbox) {
        guard case .leasing(let step) = stage.state, let wanted = attempt.origin else { return }
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
