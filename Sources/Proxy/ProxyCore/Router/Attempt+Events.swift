import HTTPCodec
import Interception
import TLSEngine

/// What happens to an attempt, except for the body of its response.
enum OriginEvent {
    /// The connection is here.
    /// - sendsRaw: body bytes may be relayed to the origin unread.
    case leased(reused: Bool, sendsRaw: Bool)
    /// The driver could not connect to the origin.
    indirect case leaseFailed(LeaseFailure)
    indirect case interim(ResponseHead)
    /// The final head of the response is here.
    case head(BodyFraming)
    /// 101: the connection changes its protocol (RFC 9110 §15.2.2).
    case switched
    /// The origin closed before its response was complete.
    indirect case ended(StreamEnding, TLSFault?)
    /// The response is invalid HTTP.
    indirect case broke(HTTPFault)
}

extension Attempt {
    /// What the exchange has to do.
    enum Step {
        case nothing
        /// Carry out what a filter has in mind instead of the request.
        indirect case act(FilterAction)
        /// Respond with the error: the request may not go out.
        indirect case refuse(ProxyError)
        /// Relay the interim response, if its client takes one.
        indirect case interim(ResponseHead)
        /// The head of the response is here, and good.
        case head(BodyFraming)
        /// Switch to the protocol that the origin agreed to.
        case switchProtocol
        /// Send the request once more, on a new connection.
        case sendAgain
        /// The request's body is not for the origin.
        indirect case stop(ProxyError)
        indirect case failed(ProxyError)
    }

    /// Handles an event at the origin's side.
    /// - Parameter response: the head of the response.
    mutating func came(
        _ event: OriginEvent, _ response: inout ResponseHead, _ info: inout ExchangeInfo,
        _ context: inout ClientContext, _ out: inout CommandBuffer
    ) -> Step {
        switch (event, info.stage.state) {
        case (.leased(let isReused, let sendsRaw), .leasing):
            info.received.body.search(for: info.filters?.enforcing == nil ? nil : sent(info.received.head))
            leased(isReused: isReused, sendsRaw: sendsRaw, info, &context, &out)
            if info.received.body.hidesMethod() { return .stop(.hiddenMethod) }
            startSending(&info, context, &out)
        // it comes too late
        case (.leased, _): out.commands.append(.release(info.id, reusable: true))
        case (.leaseFailed(let failure), .leasing(let step)):
            guard let origin else { break }
            return .failed(ProxyError(failure, at: step, origin))
        case (.interim(let head), let state):
            guard takesInterim(head, limit: info.engine.settings.limits.header) else {
                return .failed(.invalid(HTTPFault(.tooManyInterim, at: 0)))
            }
            guard case .awaiting = state, info.terms.hasClient else { break }
            // Usher has already sent 100 (Continue) for a body that it keeps
            if head.status != 100 || !info.received.body.isKept { return .interim(head) }
        case (.head(let framing), .awaiting):
            info.log.record.originVersion = response.version
            wishes.answerLimit = nil
            info.log.capture.answered(out.now)
            if let refusal = refusal(of: response) { return .failed(refusal) }
            if !isBinding, response.fields.hasConnectionChallenge { challenged(info, &context, &out) }
            return .head(framing)
        case (.switched, .awaiting):
            if let refusal = refusal(ofSwitch: &response, to: info.received.head) { return .failed(refusal) }
            return .switchProtocol
        case (.ended(let ending, let fault), let state):
            return ended(ending, fault, in: state, info)
        case (.broke, .tunnelling), (.broke, .over): break
        case (.broke(let fault), _): return .failed(.invalid(fault))
        case (.leaseFailed, _), (.head, _), (.switched, _): break
        }
        return .nothing
    }

    /// The origin closed before its response was complete.
    private mutating func ended(
        _ ending: StreamEnding, _ fault: TLSFault?, in state: ExchangeStage.State, _ info: borrowing ExchangeInfo
    ) -> Step {
        switch state {
        case .leasing: return .failed(.terminated(ending))
        case .awaiting:
            if mayRepeat(info, after: ending) {
                // a proof covers one sending only, so the retry starts without it
                if let plain { head = plain }
                return .sendAgain
            }
            if let fault, let origin { return .failed(ProxyError(fault, origin)) }
            return .failed(hasAnswered ? .incomplete(ending) : .terminated(ending))
        case .pacing(let paced) where paced.isWhole: return .nothing
        case .delivering, .holding, .pacing: return .failed(.incomplete(ending))
        case .reading, .authenticating, .collecting, .deciding, .calling, .waiting, .intercepting, .tunnelling, .over:
            return .nothing
        }
    }

    // MARK: the request

    /// Sends the head, and the part of the body that is here.
    private mutating func startSending(
        _ info: inout ExchangeInfo, _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) {
        let timeouts = info.engine.settings.timeouts
        switch send(&info, context, &out) {
        case .whole: info.stage.enter(.awaiting, until: info.bounded(out.now + timeouts.response))
        case .part: info.stage.enter(.awaiting, until: out.now + timeouts.idle)
        case .paced:
            info.enter(.awaiting, out.now)
            sendUpload(&info, &out)
        }
    }

    /// Sends the origin the part of a paced request body that is due.
    mutating func sendUpload(_ info: inout ExchangeInfo, _ out: inout CommandBuffer) {
        let sent = sendDue(info, &out)
        guard case .awaiting = info.stage.state else { return }
        let timeouts = info.engine.settings.timeouts
        if sent.moved { info.stage.wait(until: info.bounded(out.now + timeouts.idle)) }
        if sent.isWhole { info.stage.wait(until: out.now + timeouts.response) }
    }

    /// The whole body of the request has been relayed.
    mutating func sentWhole(_ info: inout ExchangeInfo, _ now: Int) {
        isSent = true
        if case .awaiting = info.stage.state { info.stage.wait(until: now + info.engine.settings.timeouts.response) }
    }
}

extension ExchangeInfo {
    /// The driver has begun a step of the lease, which has its own timeout.
    mutating func reached(_ step: LeaseStep, _ now: Int) {
        guard case .leasing = stage.state else { return }
        log.capture.reached(step, now)
        stage.enter(.leasing(step), until: bounded(now + engine.settings.timeouts.of(step)))
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

    fileprivate static func invalid(_ fault: HTTPFault) -> ProxyError {
        .badResponse("the origin's response is not valid HTTP: \(fault.explanation) (\(fault.code.rawValue))")
    }
}
