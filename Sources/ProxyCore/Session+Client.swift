import HTTPCodec
import Interception

/// The client's side: heads, bodies, pipelining.
extension Session {
    /// Bytes of later requests that are kept while one is under way; more make the client wait.
    private static let pipelineBuffer = 64 << 10

    mutating func clientBytes(_ bytes: Span<UInt8>, _ out: inout Outbox) {
        if phase == .lingering || phase == .closed { return }
        if clientPending.isEmpty {
            let used = intake(bytes, &out)
            hasMore = false
            if used < bytes.count, phase != .lingering, phase != .closed {
                clientPending.append(bytes.extracting(used...))
            }
        } else {
            clientPending.append(bytes)
            drainClientPending(&out)
        }
        // a head has a limit of its own, and nothing but its end would let the client go on
        if clientPending.count >= Self.pipelineBuffer, phase != .awaitingRequest { pauseClient(&out) }
    }

    mutating func drainClientPending(_ out: inout Outbox) {
        guard !clientPending.isEmpty else { return }
        var buffer: [UInt8] = []
        swap(&buffer, &clientPending)
        let used = intake(buffer.span, &out)
        hasMore = false
        if phase == .lingering || phase == .closed { return }
        if used == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= Self.pipelineBuffer)
        } else if used > 0 {
            buffer.removeFirst(used)
        }
        swap(&buffer, &clientPending)
        if clientPending.count < Self.pipelineBuffer || phase == .awaitingRequest, !isProceeding { resumeClient(&out) }
        if clientEnded { missEnd(&out) }
    }

    /// The client has sent all that it will: what is still incomplete then stays so.
    mutating func missEnd(_ out: inout Outbox) {
        switch phase {
        case .awaitingRequest:
            if !isProceeding { abandon(reset: false, &out) }
        case .collectingBody: abandon(reset: false, &out)
        case .exchanging:
            // while there is no connection the body waits in `clientPending`
            if bodyState != .complete, origin.state != .leasing { abandon(reset: responseStarted, &out) }
        case .preface, .greeting, .securing, .waiting, .authenticating, .connecting, .peeking, .tunnel, .lingering,
            .closed:
            break
        }
    }

    /// Uses as many bytes as the present phase wants.
    private mutating func intake(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Int {
        var position = 0
        while position < bytes.count {
            switch phase {
            case .awaitingRequest:
                guard let used = head(bytes.extracting(position...), &out) else { return position }
                position += used
                if isBetweenExchanges(&out, more: position < bytes.count) { return position }
            case .collectingBody:
                collect(bytes, &position, &out)
                if isBetweenExchanges(&out, more: position < bytes.count) { return position }
            case .exchanging:
                guard origin.purpose == .attempt, origin.state == .awaitingHead || origin.state == .body,
                    bodyState != .complete
                else { return position }
                stream(bytes, &position, &out)
                if phase == .exchanging, bodyState != .complete, position == bytes.count {
                    relayRestOfRequest(&out)
                }
            case .peeking:
                guard peek(bytes.extracting(position...), &out) else { return position }
                if phase == .securing || phase == .closed { return bytes.count }
                if phase == .tunnel {
                    out.origin.append(bytes.extracting(position...))
                    record.requestBytes += UInt64(bytes.count - position)
                    return bytes.count
                }
            case .tunnel:
                out.origin.append(bytes.extracting(position...))
                record.requestBytes += UInt64(bytes.count - position)
                return bytes.count
            case .preface:
                guard let used = preface(bytes.extracting(position...), &out) else { return position }
                position += used
            case .greeting:
                guard greet(bytes.extracting(position...), &out) else { return position }
                return bytes.count
            case .waiting, .connecting, .authenticating, .securing, .lingering, .closed:
                return position
            }
        }
        return position
    }

    /// An exchange was answered here and is over. The next one has to wait until its record was read.
    private mutating func isBetweenExchanges(_ out: inout Outbox, more: Bool) -> Bool {
        guard phase == .awaitingRequest else { return false }
        if more { orderProceed(&out) }
        return true
    }

    // MARK: heads

    /// Reads a request head. Nil while it is incomplete.
    private mutating func head(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Int? {
        if !headBegan {
            headBegan = true
            deadline = now + engine.settings.timeouts.header
        }
        let used: Int
        do {
            guard let end = try parser.parse(bytes, into: &request, limits: engine.headLimits) else { return nil }
            used = end
        } catch {
            forgetHead()
            startRecord()
            refuse(error, &out)
            return bytes.count
        }
        hasMore = used < bytes.count
        startRecord()
        do {
            try begin(&out)
        } catch {
            refuse(error, &out)
        }
        return used
    }

    /// Gives up a head that did not come whole: its fields point at bytes that are not kept, and nothing of the request
    /// before it may colour the answer.
    mutating func forgetHead() {
        parser.reset()
        request = RequestHead()
    }

    /// A request that breaks a rule is answered and the connection closed: where the next one would begin is unknown.
    mutating func refuse(_ fault: HTTPFault, _ out: inout Outbox) {
        closesAfter = true
        bodyState = .complete
        phase = .exchanging
        let status = fault.status
        answer(
            ProxyError(
                "http_request_error", status: status,
                "\(fault.explanation) (\(fault.code.rawValue), byte \(fault.offset))"),
            &out)
    }

    private mutating func begin(_ out: inout Outbox) throws(HTTPFault) {
        record.method.append(contentsOf: request.fields.bytes[request.methodRange.indices])
        responseStarted = false
        bodyKept = false
        bodyBytes = 0
        body.removeAll(keepingCapacity: true)
        closesAfter = !request.keepsAlive
        if request.method == .connect {
            guard tunnelTarget == nil else {
                bodyState = .complete
                phase = .exchanging
                closesAfter = true
                return answer(.badRequest(400, "CONNECT inside a CONNECT tunnel"), &out)
            }
            guard try request.framing() == .none else { throw HTTPFault(.bodyNotAllowed, at: 0) }
            try request.settleHost(scheme: .https)
            engine.redaction.appendURL(of: request, to: &record.url)
            return asksForPassword ? authenticate(&out) : try admitted(&out)
        }
        let framing = try request.framing()
        // a body without a length, as RFC 1945 §7.2.2 knows it: what follows may be that, and no request
        if framing == .none, request.version == .http10, request.method.givesBodyMeaning, !request.announcesLength {
            closesAfter = true
        }
        if let tunnelTarget {
            guard try settleInTunnel(tunnelTarget, &out) else { return }
        } else {
            if request.target.form == .absolute { try request.settleHost() }
            guard request.target.form == .absolute else { return refuseOriginForm(&out) }
            request.alignHost()
        }
        try request.fields.removeConnectionFields()
        engine.redaction.appendURL(of: request, to: &record.url)
        switch framing {
        case .none, .untilClose: bodyState = .complete
        case .length(let length):
            bodyState = .length(length)
            if let limit = engine.settings.limits.body, length > limit { return tooLarge(&out) }
        case .chunked:
            bodyState = .chunked
            requestDecoder = ChunkedDecoder(maxTrailerBytes: engine.settings.limits.header)
        }
        if asksForPassword { authenticate(&out) } else { try admitted(&out) }
    }

    /// The request is well formed, and whoever sent it may send one.
    mutating func admitted(_ out: inout Outbox) throws(HTTPFault) {
        if isForOwnPages { return answerFromOwnPages(&out) }
        if request.method == .connect { return beginConnect(&out) }
        if isOwnRequest { return refuseLoop(&out) }
        if request.method == .trace || request.method == .options, try stopsHere(&out) { return }
        planExchange(&out)
    }

    private mutating func refuseOriginForm(_ out: inout Outbox) {
        phase = .exchanging
        bodyState = .complete
        closesAfter = true
        answer(
            .badRequest(
                400,
                "this is a forward proxy: set it as HTTP_PROXY, or ask for a whole URL (GET http://host/path HTTP/1.1); "
                    + "http://\(OwnPages.host)/ through it shows more"),
            &out)
    }

    /// Inside a tunnel the URL is made of the tunnel's own target; a Host that says otherwise is ambiguous.
    private mutating func settleInTunnel(_ target: Origin, _ out: inout Outbox) throws(HTTPFault) -> Bool {
        try request.settleHost(scheme: target.scheme)
        if request.target.port == target.port, request.target.scheme == target.scheme, target.isNamed(by: request) {
            if request.target.form == .absolute { request.alignHost() }
            return true
        }
        phase = .exchanging
        bodyState = .complete
        closesAfter = true
        answer(
            ProxyError(
                "http_request_error", status: 421,
                "the request's Host is \(request.fields.text(request.target.authority)), but the tunnel was opened to "
                    + (target.serverName.map { "\($0) at " } ?? "") + target.description), &out)
        return false
    }

    mutating func tooLarge(_ out: inout Outbox) {
        closesAfter = true
        phase = .exchanging
        answer(
            ProxyError("http_request_error", status: 413, "the request's body is larger than limits.body allows"), &out)
    }

    // MARK: bodies

    /// Keeps body bytes until the body is whole or grows over the limit.
    private mutating func collect(_ bytes: Span<UInt8>, _ position: inout Int, _ out: inout Outbox) {
        deadline = now + engine.settings.timeouts.idle
        switch bodyState {
        case .complete: break
        case .length(let remaining):
            let taken = min(remaining, UInt64(bytes.count - position))
            body.append(bytes.extracting(position..<position + Int(taken)))
            position += Int(taken)
            bodyState = taken == remaining ? .complete : .length(remaining - taken)
        case .chunked:
            do {
                loop: while position < bytes.count, body.count <= keepLimit {
                    switch try requestDecoder.next(bytes, &position) {
                    case .data(let range): body.append(bytes.extracting(range))
                    case .end:
                        bodyState = .complete
                        break loop
                    case .needsMore: break loop
                    }
                }
            } catch { return refuse(error, &out) }
        }
        hasMore = position < bytes.count
        if !mayKeep() {
            note(.note, "limits.buffered leaves no room for the request's body, so it is not sent again")
            bodyCollected(&out)
        } else if bodyState == .complete {
            bodyKept = true
            bodyCollected(&out)
        } else if body.count > keepLimit {
            bodyCollected(&out)
        }
    }

    /// Passes body bytes on to the origin as they come.
    private mutating func stream(_ bytes: Span<UInt8>, _ position: inout Int, _ out: inout Outbox) {
        deadline = now + engine.settings.timeouts.idle
        let start = position
        switch bodyState {
        case .complete: return
        case .length(let remaining):
            let taken = min(remaining, UInt64(bytes.count - position))
            out.origin.append(bytes.extracting(position..<position + Int(taken)))
            position += Int(taken)
            bodyState = taken == remaining ? .complete : .length(remaining - taken)
        case .chunked:
            do {
                loop: while position < bytes.count {
                    switch try requestDecoder.next(bytes, &position) {
                    case .data(let range):
                        bodyBytes += UInt64(range.count)
                        // nothing past the limit goes out, least of all the end that would make the request whole
                        if let limit = engine.settings.limits.body, bodyBytes > limit { return streamedTooMuch(&out) }
                        out.origin.append(chunk: bytes.extracting(range))
                    case .end:
                        out.origin.appendLastChunk(trailers: requestDecoder.trailers)
                        bodyState = .complete
                        break loop
                    case .needsMore: break loop
                    }
                }
            } catch {
                if responseStarted { return abandon(reset: true, &out) }
                releaseOrigin(reusable: false, &out)
                return refuse(error, &out)
            }
        }
        record.requestBytes += UInt64(position - start)
        if bodyState == .complete { requestBodySent() }
    }

    private mutating func streamedTooMuch(_ out: inout Outbox) {
        if responseStarted { return abandon(reset: true, &out) }
        releaseOrigin(reusable: false, &out)
        tooLarge(&out)
    }

    /// The rest of a body of known length needs no decision: the driver moves it.
    mutating func relayRestOfRequest(_ out: inout Outbox) {
        guard case .length(let remaining) = bodyState else { return }
        out.orders.append(.relay(from: .client, count: remaining))
    }

    mutating func requestBodySent() {
        origin.requestSent = true
        if origin.state == .awaitingHead { deadline = now + engine.settings.timeouts.response }
    }

    // MARK: the end

    mutating func clientGone(_ out: inout Outbox) {
        clientEndedAt = now
        switch phase {
        case .closed: return
        case .preface:
            // a balancer that only looks whether somebody listens
            phase = .awaitingRequest
            return abandon(reset: false, &out)
        case .connecting where responseStarted && !clientPending.isEmpty: return
        case .peeking where !clientPending.isEmpty && !headBegan:
            // too little to be HTTP, or TLS that would be opened, and no more will come
            return openTunnelForRest(&out)
        case .greeting, .awaitingRequest, .collectingBody, .connecting, .peeking, .lingering:
            return abandon(reset: false, &out)
        case .securing, .tunnel: return
        case .waiting, .exchanging, .authenticating: break
        }
        // a client may have closed its sending side alone and still wait for the answer; nobody is asked to step up for
        // one that may be gone
        if stepUp?.isActive == true {
            note(.note, "the client went away; the step-up was given up")
            return abandon(reset: false, &out)
        }
        missEnd(&out)
    }
}
