import Formats
import HTTP1
import HTTPCodec
import Interception

/// Reads the client's requests: of the current exchange, of the next one, or of any stream.
extension HTTPConnection {
    /// Reads the next event.
    /// - Returns: false when no more is wanted now.
    mutating func read(_ bytes: Span<UInt8>, _ position: inout Int, _ out: inout CommandBuffer) -> Bool {
        if exchanges.isUnused, !codec.isMultiplexed, engine.settings.http2.clients {
            switch HTTP2Preface(bytes.extracting(position...)) {
            case .absent: break
            case .present:
                codec.startHTTP2(engine, out.windows)
                return true
            case .undecided:
                wait(until: out.now + engine.settings.timeouts.header)
                return false
            }
        }
        var place: ExchangeCell?
        if !codec.isMultiplexed {
            let cell = exchanges.current ?? beginHead(&out)
            if !cell.exchange.isReading {
                guard cell.exchange.wantsBody else { return false }
                cell.exchange.bodyMoves(out.now)
            }
            place = cell
        }
        do throws(HTTPFault) {
            let event = try codec.read(bytes, &position, into: place, engine, &out)
            intake.isMidway = position < bytes.count
            guard take(event, of: bytes, place, &out) else { return false }
        } catch {
            guard let place else {
                endStreams(&out)
                return false
            }
            place.exchange.stop(.broken(error), &out)
            settle(place, &out)
        }
        // the exchange was answered here and is over: the next one waits until its record is taken
        guard sequel == nil, let place, place.exchange.isOver else { return true }
        if position < bytes.count { intake.orderProceed(&out) }
        return false
    }

    /// - Parameter place: the exchange that events belong to, on a connection with one stream.
    /// - Returns: false when no more can be read.
    private mutating func take(
        _ event: StreamServerEvent, of bytes: Span<UInt8>, _ place: ExchangeCell?, _ out: inout CommandBuffer
    ) -> Bool {
        switch event {
        case .needsMore:
            if place == nil { noteTaken(&out) }
            return false
        case .head(let stream, let framing): begin(place ?? start(stream, &out), framing, &out)
        case .broken(let stream, let fault): refuse(place ?? start(stream, &out), fault, &out)
        case .data(let stream, let range):
            guard let cell = place ?? exchanges[on: stream] else {
                codec.used(range.count, of: stream, &out)
                break
            }
            bodyCame(bytes.extracting(range), of: cell, &out)
            if cell.stream == nil, !endBody(of: cell, &out), range.upperBound == bytes.count { relayRequest(cell) }
        case .end(let stream):
            guard let cell = place ?? exchanges[on: stream] else { break }
            let trailers = codec.trailers
            cell.stream.change { $0.end = trailers }
            if cell.stream == nil {
                endBody(of: cell, &out)
            } else if cell.stream?.tunnel == nil {
                pump(cell, &out)
            } else {
                cell.endClientSide(&out)
                settle(cell, &out)
            }
        case .reset(let stream):
            guard let cell = exchanges[on: stream] else { break }
            if cell.stream?.tunnel == nil { cell.exchange.log.tell(.cancelled, out.now) }
            cell.exchange.info.noteAbandoned(out.now)
            cell.exchange.cut(reset: true, &out)
            settle(cell, &out)
        case .violated(let stream, let fault):
            guard let cell = exchanges[on: stream] else { break }
            let error = ProxyError.broken(fault)
            cell.exchange.log.tell(.failed(token: error.token, details: error.details), out.now)
            cell.exchange.cut(reset: true, &out)
            settle(cell, &out)
        }
        return true
    }

    // MARK: heads

    /// The first byte of a head is here: starts the timeout for the rest.
    private mutating func beginHead(_ out: inout CommandBuffer) -> ExchangeCell {
        wait(until: out.now + engine.settings.timeouts.header)
        return exchanges.begin(engine, &out)
    }

    private mutating func start(_ stream: StreamID, _ out: inout CommandBuffer) -> ExchangeCell {
        let cell = exchanges.begin(engine, &out)
        cell.stream = ClientStream(stream)
        return cell
    }

    /// Handles the head of a request.
    private mutating func begin(_ cell: ExchangeCell, _ framing: BodyFraming, _ out: inout CommandBuffer) {
        codec.takeHead(into: &cell.exchange.request)
        // a tunnel in a stream is never nested in another tunnel
        if cell.stream != nil, cell.exchange.request.method == .connect, context.tunnel == nil {
            return cell.carry(&out)
        }
        exchanges.startRecord(of: cell, context, &out)
        cell.exchange.info.logHead()
        if context.source.isInStream, context.tunnel == nil { cell.exchange.log.record.version = .http2 }
        if let refusal = streamRefusal(cell) {
            cell.exchange.answer(refusal, &out)
            return settle(cell, &out)
        }
        do throws(HTTPFault) {
            let framing = try codec.begin(
                cell.exchange.request, framing, maxTrailerBytes: engine.settings.limits.header)
            cell.exchange.begin(framing, &context, &out)
        } catch {
            cell.exchange.answer(.broken(error), isLast: true, &out)
        }
        settle(cell, &out)
    }

    /// The reason why another stream is refused; nil when there is room.
    private func streamRefusal(_ cell: ExchangeCell) -> ProxyError? {
        guard cell.stream != nil, let share = context.share else { return nil }
        let limit = max(engine.settings.limits.perClient, engine.settings.http2.streams)
        return share.begin(exchanges.openStreams, limit) ? nil : .tooManyStreams(limit)
    }

    /// Rejects a head that breaks a rule: nothing of it may affect the response.
    private mutating func refuse(_ cell: ExchangeCell, _ fault: HTTPFault, _ out: inout CommandBuffer) {
        cell.exchange.request = RequestHead()
        exchanges.startRecord(of: cell, context, &out)
        if cell.stream != nil { cell.exchange.log.record.version = .http2 }
        cell.exchange.answer(.broken(fault), isLast: true, &out)
        settle(cell, &out)
    }

    // MARK: bodies

    private mutating func bodyCame(_ bytes: Span<UInt8>, of cell: ExchangeCell, _ out: inout CommandBuffer) {
        if cell.stream?.tunnel != nil {
            cell.forward(bytes, codec, idle: engine.settings.timeouts.tunnelIdle, &out)
        } else if cell.stream?.pending.isEmpty != false, cell.exchange.wantsBody {
            use(bytes, of: cell, &out)
        } else {
            cell.stream.change { $0.pending.append(bytes) }
        }
    }

    private mutating func use(_ bytes: Span<UInt8>, of cell: ExchangeCell, _ out: inout CommandBuffer) {
        cell.use(bytes, codec, &context, &out)
        settle(cell, &out)
    }

    /// Gives an exchange in a stream its received body bytes, as many as it wants.
    private mutating func pump(_ cell: ExchangeCell, _ out: inout CommandBuffer) {
        while cell.exchange.wantsBody, let stream = cell.stream {
            if !stream.pending.isEmpty {
                cell.stream.change { $0.pending = [] }
                use(stream.pending.span, of: cell, &out)
            } else if let trailers = stream.end {
                cell.endBody(trailers: trailers, &context, &out)
                settle(cell, &out)
            } else {
                return
            }
        }
    }

    /// Tells the exchange that its body is complete, if the exchange reads it.
    @discardableResult
    private mutating func endBody(of cell: ExchangeCell, _ out: inout CommandBuffer) -> Bool {
        guard codec.isComplete, cell.exchange.wantsBody else { return false }
        cell.endBody(trailers: codec.trailers, &context, &out)
        settle(cell, &out)
        return true
    }

    /// Reads on where the exchange may want more of its body by now.
    /// - Parameter waits: without bytes that were kept, the client's next ones are waited for.
    mutating func takeMore(of cell: ExchangeCell, waits: Bool, _ out: inout CommandBuffer) {
        if cell.stream != nil { return pump(cell, &out) }
        guard cell.exchange.wantsBody, !endBody(of: cell, &out) else { return }
        if !intake.isEmpty {
            sequel = .read
        } else if waits, context.hasEnded {
            // the client has ended, so no more of the body will come
            missEnd(&out)
        } else if waits {
            relayRequest(cell)
        }
        if waits { intake.resume() }
    }

    /// Relays the rest of a body of known length straight to the origin, because nothing is left to decide.
    private mutating func relayRequest(_ cell: ExchangeCell) {
        guard cell.exchange.streamsRaw, !cell.exchange.log.capture.wantsRequest, let rest = codec.rawRequestBody else {
            return
        }
        relays.begin(.client, rest, of: cell.exchange.id)
    }

    /// Counts bytes that the driver relayed from the client to the origin.
    mutating func relayedFromClient(_ count: Int, _ out: inout CommandBuffer) {
        relays.pass(.client, UInt64(count))
        guard let cell = exchanges.current else { return }
        if cell.exchange.isTunnelling { return cell.exchange.log.record.requestBytes += UInt64(count) }
        codec.passed(UInt64(count))
        cell.exchange.info.touched(.origin, isSent: cell.exchange.attempt.isSent, out.now)
        cell.exchange.bodyPassed(UInt64(count), isWhole: codec.isComplete, out.now)
        if codec.isComplete { out.commands.append(.sendEnd(cell.exchange.id, trailers: [])) }
    }

    // MARK: the end

    /// The client sends no more.
    mutating func clientEnded(_ out: inout CommandBuffer) {
        // a multiplexed client closes its streams one by one
        guard !codec.isMultiplexed, let cell = exchanges.current, !cell.exchange.isReading else {
            exchanges.noteAbandoned(out.now)
            return sequel = .close(reset: false)
        }
        if case .collecting = cell.exchange.stage.state { return sequel = .close(reset: false) }
        // a client may have closed only its sending side and still wait for the response
        if cell.exchange.giveUpWait(&out) { return settle(cell, &out) }
        missEnd(&out)
    }

    /// The client has ended: an incomplete request stays incomplete.
    mutating func missEnd(_ out: inout CommandBuffer) {
        if codec.isMultiplexed { return }
        guard let cell = exchanges.current, !cell.exchange.isReading else {
            if intake.proceeding == .no { sequel = .close(reset: false) }
            return
        }
        cell.exchange.clientEnded(lacksBody: !codec.isComplete, &out)
        settle(cell, &out)
    }

    /// The next request's head, or its first byte, did not come in time.
    mutating func timedOut(_ out: inout CommandBuffer) {
        if codec.isMultiplexed {
            sayGoodbye(&out)
            return endStreams(&out)
        }
        if exchanges.current == nil { return sequel = .close(reset: false) }
        codec.giveUpHead()
        // its fields point at bytes that are not kept, and nothing of the head may affect the response
        let cell = exchanges.recorded(engine, context, &out)
        cell.exchange.answer(.requestTimeout, isLast: true, &out)
        settle(cell, &out)
    }
}
