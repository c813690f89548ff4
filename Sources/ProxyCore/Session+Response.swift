import Authorization
import HTTPCodec
import Interception
import TLSEngine

/// A response that is held back until it is clear what becomes of it.
struct HeldResponse {
    enum Reason: UInt8 {
        /// It may carry an advice.
        case advice
        /// Its body tells which flow an `authId` belongs to.
        case flow
    }

    var reason: Reason
    var head: ResponseHead
    var body: [UInt8] = []
    var limit: Int
}

/// The origin's answer on its way to the client.
extension Session {
    mutating func originBytes(_ bytes: Span<UInt8>, _ out: inout Outbox) {
        if phase == .tunnel || phase == .peeking { return tunnelBytes(bytes, &out) }
        guard origin.state == .awaitingHead || origin.state == .body else { return out.distrustRelease() }
        origin.hasAnswered = true
        if origin.pending.isEmpty {
            let used = answerBytes(bytes, &out)
            if used < bytes.count, origin.state == .awaitingHead { origin.pending.append(bytes.extracting(used...)) }
        } else {
            origin.pending.append(bytes)
            var buffer: [UInt8] = []
            swap(&buffer, &origin.pending)
            let used = answerBytes(buffer.span, &out)
            if origin.state == .awaitingHead {
                buffer.removeFirst(used)
                swap(&buffer, &origin.pending)
            }
        }
    }

    private mutating func answerBytes(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Int {
        var position = 0
        while position < bytes.count {
            switch origin.state {
            case .awaitingHead:
                do {
                    guard
                        let used = try origin.parser.parse(
                            bytes.extracting(position...), into: &origin.response, limits: engine.headLimits)
                    else { return position }
                    position += used
                    try responseHead(more: bytes.count > position, &out)
                } catch {
                    originFailed(
                        .badResponse(
                            "the origin's answer breaks HTTP: \(error.explanation) (\(error.code.rawValue))"), &out)
                    return bytes.count
                }
                if phase == .tunnel {
                    tunnelBytes(bytes.extracting(position...), &out)
                    return bytes.count
                }
            case .body:
                bodyBytes(bytes, &position, &out)
                if origin.state == .body, position == bytes.count { relayRestOfResponse(&out) }
            case .idle, .leasing:
                // bytes behind a complete answer: nobody asked for them, and the connection was given up for it
                return bytes.count
            }
        }
        return position
    }

    private mutating func responseHead(more: Bool, _ out: inout Outbox) throws(HTTPFault) {
        let method = origin.purpose == .serverCall ? Method.post : outgoing?.method ?? request.method
        let framing = try origin.response.framing(answering: method)
        try origin.response.fields.removeConnectionFields()
        if origin.response.isInterim { return forwardInterim(&out) }
        if origin.response.status == 407, let origin = origin.origin, case .forward = origin.route {
            return originFailed(.credentialsRefused(origin.peer), &out)
        }
        if !origin.isBinding, origin.response.fields.hasConnectionChallenge { bindOrigin(&out) }
        if origin.response.status == 101 { return switchProtocols(&out) }
        origin.framing = framing
        origin.keepsAlive = origin.response.keepsAlive
        origin.state = .body
        if origin.purpose == .attempt { stepUp.change { $0.original = nil } }
        deadline = bounded(now + engine.settings.timeouts.idle)
        origin.sink = .collect
        if origin.purpose == .attempt {
            if let limit = stepUp?.holds(origin.response, to: request, sent: outgoing ?? request) {
                held = HeldResponse(
                    reason: .advice, head: origin.response, limit: min(limit, engine.settings.limits.keptBody))
            } else if mayTellFlow {
                held = HeldResponse(
                    reason: .flow, head: origin.response, limit: holdLimit)
            } else {
                origin.sink = .client
                deliverHead(&out)
                // an interceptor may have answered in its place
                guard origin.state == .body else { return }
            }
        } else {
            held = HeldResponse(
                reason: .advice, head: origin.response, limit: holdLimit)
        }
        switch framing {
        case .none: responseComplete(unasked: more, &out)
        case .length(let length):
            origin.remaining = length
            if !more { relayRestOfResponse(&out) }
        case .chunked: origin.decoder = ChunkedDecoder(maxTrailerBytes: engine.settings.limits.header)
        case .untilClose:
            if !more { relayRestOfResponse(&out) }
        }
    }

    /// From here on the connection speaks something else, and is relayed unopened (RFC 9110 §15.2.2).
    private mutating func switchProtocols(_ out: inout Outbox) {
        guard offersUpgrade else {
            return originFailed(.badResponse("the origin switched protocols without being asked"), &out)
        }
        guard editResponse(&out) else { return }
        var forwarding = Forwarding(framing: .none)
        forwarding.upgrades = true
        forwarding.via = engine.via(received: origin.response.version)
        origin.response.write(to: &out.client, forwarding)
        record.status = 101
        responseStarted = true
        openTunnel(&out)
        out.origin.append(contentsOf: clientPending)
        record.requestBytes += UInt64(clientPending.count)
        clientPending = []
        resumeClient(&out)
    }

    private var mayTellFlow: Bool {
        guard let action = classification?.action else { return false }
        return (action == .startAuthenticate || action == .authenticate) && origin.response.status == 200
    }

    private var holdLimit: Int {
        min(stepUp?.policy.maxAnswerBytes ?? Classifier.bodyPeek, engine.settings.limits.keptBody)
    }

    private mutating func forwardInterim(_ out: inout Outbox) {
        guard origin.purpose == .attempt, request.version == .http11, !responseStarted else { return }
        // an answered Expect is not answered twice
        if origin.response.status == 100, bodyKept { return }
        var forwarding = Forwarding(framing: .none)
        forwarding.via = engine.via(received: origin.response.version)
        origin.response.write(to: &out.client, forwarding)
    }

    // MARK: to the client

    /// Writes the response's head to the client, after the response phase of the interceptors.
    private mutating func deliverHead(_ out: inout Outbox) {
        guard editResponse(&out) else { return }
        var framing = origin.framing
        if framing == .untilClose { closesAfter = true }
        if framing == .chunked, request.version == .http10 {
            framing = .untilClose
            closesAfter = true
        }
        if isBodiless {
            if framing != .none { origin.sink = .discard }
            framing = .none
        }
        writeHead(framing, &out)
    }

    /// No body follows this head to the client (RFC 9110 §6.4.1), whatever the origin sends.
    private var isBodiless: Bool {
        request.method == .head || [204, 304].contains(origin.response.status)
    }

    private mutating func writeHead(_ framing: BodyFraming, _ out: inout Outbox) {
        if stepUp != nil { judgeLogin(byStatus: origin.response.status) }
        if bodyState != .complete { closesAfter = true }
        var forwarding = Forwarding(framing: framing)
        forwarding.keepsLength = framing == .none && (request.method == .head || origin.response.status == 304)
        forwarding.via = engine.via(received: origin.response.version)
        if closesAfter || isLastOfClient {
            forwarding.connection = "close"
        } else if request.version == .http10 {
            forwarding.connection = "keep-alive"
        }
        if !origin.response.fields.contains(.date) { forwarding.date = out.date }
        for line in cookieLines { origin.response.fields.add("Set-Cookie", line) }
        if origin.isBinding, origin.response.fields.hasConnectionChallenge {
            // RFC 4559 §6: a client answers such a challenge only where it knows that its connection stays its own
            forwarding.lines = Self.keepsConnections
        }
        origin.response.write(to: &out.client, forwarding)
        record.status = origin.response.status
        responseStarted = true
    }

    private static let keepsConnections = Array("Proxy-Support: Session-Based-Authentication\r\n".utf8)

    /// Runs the response phase. False when it ended in an answer made here.
    private mutating func editResponse(_ out: inout Outbox) -> Bool {
        guard engine.plan.hasResponseRules else { return true }
        var head = origin.response
        let verdict = intercept(&head, to: outgoing ?? request)
        origin.response = head
        switch verdict {
        case .proceed: return true
        case .respond(let local, let interceptor):
            if origin.state != .idle { releaseOrigin(reusable: false, &out) }
            answer(local, interceptor: interceptor, &out)
        case .abort(let interceptor, let reason):
            if origin.state != .idle { releaseOrigin(reusable: false, &out) }
            answer(
                ProxyError("proxy_internal_error", status: 502, "interceptor \(interceptor) aborted: \(reason)"), &out)
        }
        return false
    }

    private mutating func bodyBytes(_ bytes: Span<UInt8>, _ position: inout Int, _ out: inout Outbox) {
        deadline = bounded(now + engine.settings.timeouts.idle)
        switch origin.framing {
        case .none: return
        case .length:
            let taken = Int(min(origin.remaining, UInt64(bytes.count - position)))
            origin.remaining -= UInt64(taken)
            let complete = origin.remaining == 0
            sink(bytes.extracting(position..<position + taken), &out)
            position += taken
            // what was held may have turned out too large and ended the exchange
            if complete, origin.state == .body { responseComplete(unasked: position < bytes.count, &out) }
        case .untilClose:
            sink(bytes.extracting(position...), &out)
            position = bytes.count
        case .chunked:
            do {
                while position < bytes.count, origin.state == .body {
                    switch try origin.decoder.next(bytes, &position) {
                    case .data(let range): sink(bytes.extracting(range), &out)
                    case .end:
                        if origin.sink == .client, request.version == .http11 {
                            out.client.appendLastChunk(trailers: origin.decoder.trailers)
                        }
                        responseComplete(unasked: position < bytes.count, &out)
                    case .needsMore: return
                    }
                }
            } catch {
                originFailed(
                    .badResponse("the origin's answer breaks HTTP: \(error.explanation) (\(error.code.rawValue))"), &out
                )
            }
        }
    }

    private mutating func sink(_ bytes: Span<UInt8>, _ out: inout Outbox) {
        switch origin.sink {
        case .client:
            record.responseBytes += UInt64(bytes.count)
            if origin.framing == .chunked, request.version == .http11 {
                out.client.append(chunk: bytes)
            } else {
                out.client.append(bytes)
            }
        case .collect:
            held?.body.append(bytes)
            if let held, held.body.count > held.limit {
                cannotHold(
                    .badResponse(
                        "AM's answer is larger than authorization.limits.answer or limits.buffered_body allows"),
                    "the answer is too large to be looked through for an advice", &out)
            } else if !mayKeep() {
                cannotHold(
                    .noRoom("AM's answer cannot be kept"),
                    "limits.buffered leaves no room to look through the answer for an advice", &out)
            }
        case .discard: break
        }
    }

    /// A body of which nobody needs to see more is moved by the driver.
    private mutating func relayRestOfResponse(_ out: inout Outbox) {
        guard origin.sink == .client, !origin.isRelaying else { return }
        switch origin.framing {
        case .length:
            origin.isRelaying = true
            out.orders.append(.relay(from: .origin, count: origin.remaining))
        case .untilClose:
            origin.isRelaying = true
            out.orders.append(.relay(from: .origin, count: .max))
        case .none, .chunked: break
        }
    }

    // MARK: held responses

    /// What cannot be held goes to the client as it is.
    /// - Parameter error: what that is of an answer that is for nobody else.
    private mutating func cannotHold(_ error: ProxyError, _ words: String, _ out: inout Outbox) {
        if origin.purpose == .serverCall { return originFailed(error, &out) }
        guard let body = held?.body else { return }
        if held?.reason == .advice { note(.note, "\(words); it was passed on") }
        held = nil
        origin.sink = .client
        deliverHead(&out)
        guard origin.state == .body else { return }
        sink(body.span, &out)
    }

    /// Delivers a response that was held whole.
    mutating func deliverHeld(_ response: HeldResponse, _ out: inout Outbox) {
        held = nil
        origin.response = response.head
        guard editResponse(&out) else { return }
        writeHead(isBodiless ? .none : .length(UInt64(response.body.count)), &out)
        if !isBodiless {
            out.client.append(response.body.span)
            record.responseBytes += UInt64(response.body.count)
        }
        finishExchange(&out)
    }

    // MARK: the end of a response

    /// - Parameter unasked: the origin sent more than the answer; its connection is not trusted further.
    mutating func responseComplete(unasked: Bool = false, _ out: inout Outbox) {
        let reusable =
            origin.keepsAlive && origin.framing != .untilClose && origin.requestSent && !origin.carriesOddBody
            && !unasked && origin.purpose == .attempt
        releaseOrigin(reusable: reusable, &out)
        guard origin.sink == .collect, let response = held else { return finishExchange(&out) }
        if origin.purpose == .serverCall {
            held = nil
            return serverAnswered(response, &out)
        }
        switch response.reason {
        case .advice: considerAdvice(response, &out)
        case .flow:
            learnFlow(response.body)
            deliverHeld(response, &out)
        }
    }

    /// Remembers whose flow the `authId` in an answer of AM belongs to.
    private func learnFlow(_ body: [UInt8]) {
        guard let flows, let payload = classification?.payload, let authId = Classifier.authId(in: body) else { return }
        flows.remember(authId: authId, payload: payload)
    }

    /// The origin closed its side.
    mutating func originEnded(relayed: UInt64, cleanly: Bool, fault: TLSFault?, _ out: inout Outbox) {
        if origin.sink == .client, origin.isRelaying { record.responseBytes += relayed }
        switch phase {
        case .peeking: return abandon(reset: false, &out)
        case .tunnel, .closed, .lingering: return
        default: break
        }
        switch origin.state {
        case .idle: return
        case .leasing: originFailed(.connectionTerminated, &out)
        case .awaitingHead:
            if mayRepeat {
                releaseOrigin(reusable: false, &out)
                return lease(origin.purpose, .new, &out)
            }
            if let fault, let wanted = origin.origin { return originFailed(ProxyError(fault, wanted), &out) }
            originFailed(origin.hasAnswered ? .incompleteResponse : .connectionTerminated, &out)
        case .body:
            if origin.framing == .untilClose, cleanly {
                origin.isRelaying = false
                responseComplete(&out)
            } else {
                originFailed(.incompleteResponse, &out)
            }
        }
    }

    /// RFC 9110 §9.2.2: only on a pooled connection that had gone stale, before a byte of an answer, when the request may
    /// be sent twice and is still here.
    private var mayRepeat: Bool {
        guard origin.isReused, !origin.hasAnswered else { return false }
        return (outgoing?.method ?? request.method).isIdempotent && bodyKept
    }
}
