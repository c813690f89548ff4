import Formats
import HTTP1
import HTTPCodec
import Interception

/// The client's bytes: uses those that the current stage wants and keeps the rest.
extension ClientConnection {
    private var isOver: Bool {
        switch stage {
        case .lingering, .closed: true
        case .preface, .awaitingHello, .securing, .serving, .connect, .tunnel: false
        }
    }

    mutating func clientBytes(_ bytes: Span<UInt8>, _ out: inout Outbox) {
        if isOver { return }
        if intake.isEmpty {
            let used = use(bytes, &out)
            intake.isMidway = false
            if used < bytes.count, !isOver { intake.keep(bytes.extracting(used...)) }
        } else {
            intake.keep(bytes)
            drainPending(&out)
        }
        // a head has its own limit, and only the rest of it lets the client go on
        if intake.isFull, !awaitsRequest { intake.pause() }
    }

    mutating func drainPending(_ out: inout Outbox) {
        guard !intake.isEmpty else { return }
        let kept = intake.take()
        let used = use(kept.span, &out)
        intake.isMidway = false
        if isOver { return }
        intake.putBack(consume kept, used: used)
        if !intake.isFull || awaitsRequest, intake.proceeding == .no { intake.resume() }
        if context.hasEnded { missEnd(&out) }
    }

    /// The client has ended: an incomplete request stays incomplete.
    mutating func missEnd(_ out: inout Outbox) {
        guard case .serving = stage, !codec.isMultiplexed else { return }
        guard let cell = exchanges.current, !cell.exchange.isReading else {
            return intake.proceeding == .no ? close(reset: false, &out) : ()
        }
        cell.exchange.clientEnded(lacksBody: !codec.isComplete, &out)
        settle(cell, &out)
    }

    /// Uses as many bytes as the current stage wants.
    private mutating func use(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Int {
        var position = 0
        // the codec may hold further events from earlier bytes
        while position < bytes.count || codec.isMultiplexed {
            switch stage {
            case .serving:
                if exchanges.isUnused, !codec.isMultiplexed, engine.settings.http2.clients {
                    switch HTTP2Preface(bytes.extracting(position...)) {
                    case .absent: break
                    case .present:
                        codec.startHTTP2(engine, out.windows)
                        continue
                    case .undecided:
                        wait(until: out.now + engine.settings.timeouts.header)
                        return position
                    }
                }
                guard serve(bytes, &position, &out) else { return position }
            case .connect:
                guard peek(bytes.extracting(position...), &out) else { return position }
                switch stage {
                case .securing, .closed: return bytes.count
                case .tunnel: return pass(bytes.extracting(position...), &out) ? bytes.count : position
                default: break
                }
            case .tunnel: return pass(bytes.extracting(position...), &out) ? bytes.count : position
            case .preface:
                guard let used = preface(bytes.extracting(position...), &out) else { return position }
                position += used
            case .awaitingHello(let begun):
                guard peekHello(bytes.extracting(position...), begun: begun, &out) else { return position }
                return bytes.count
            case .securing, .lingering, .closed: return position
            }
        }
        return position
    }

    /// Relays bytes through the tunnel.
    private mutating func pass(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        guard case .tunnel(let id) = stage else { return false }
        wait(until: out.now + engine.settings.timeouts.tunnelIdle)
        out.sendRaw(bytes, of: id)
        exchanges[id]?.exchange.log.record.requestBytes += UInt64(bytes.count)
        return true
    }

    // MARK: requests

    /// Reads the next event: of the current exchange, the next one, or any stream.
    /// - Returns: false when no more is wanted now.
    private mutating func serve(_ bytes: Span<UInt8>, _ position: inout Int, _ out: inout Outbox) -> Bool {
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
                closeStreams(&out)
                return false
            }
            place.exchange.bodyBroke(error, &out)
            settle(place, &out)
        }
        // the exchange was answered here and is over: the next one waits until its record is taken
        guard let place, place.exchange.isOver, case .serving = stage else { return true }
        if position < bytes.count { orderProceed(&out) }
        return false
    }

    /// - Parameter place: the exchange that events belong to, on a connection with one stream.
    /// - Returns: false when no more can be read.
    private mutating func take(
        _ event: StreamServerEvent, of bytes: Span<UInt8>, _ place: ExchangeCell?, _ out: inout Outbox
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
            guard cell.stream != nil else {
                endBody(of: cell, &out)
                break
            }
            let trailers = codec.trailers
            cell.stream.change { $0.end = trailers }
            guard cell.stream?.tunnel != nil else {
                pump(cell, &out)
                break
            }
            cell.endClientSide(&out)
            settle(cell, &out)
        case .reset(let stream):
            guard let cell = exchanges[on: stream] else { break }
            if cell.stream?.tunnel == nil { cell.exchange.log.tell(.cancelled, out.now) }
            cell.exchange.noteAbandoned(out.now)
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

    /// The first byte of a head is here: starts the timeout for the rest.
    private mutating func beginHead(_ out: inout Outbox) -> ExchangeCell {
        wait(until: out.now + engine.settings.timeouts.header)
        return exchanges.begin(engine, &out)
    }

    /// The next request's head, or its first byte, did not come in time.
    mutating func requestTimedOut(_ out: inout Outbox) {
        guard let cell = exchanges.current else { return close(reset: false, &out) }
        codec.giveUpHead()
        // its fields point at bytes that are not kept, and nothing of the head may affect the response
        cell.exchange.request = RequestHead()
        startRecord(of: cell, &out)
        cell.exchange.answer(.requestTimeout, isLast: true, &out)
        settle(cell, &out)
    }

    /// Tells the exchange that its body is complete, if the exchange reads it.
    @discardableResult
    mutating func endBody(of cell: ExchangeCell, _ out: inout Outbox) -> Bool {
        guard codec.isComplete, cell.exchange.wantsBody else { return false }
        cell.endBody(trailers: codec.trailers, &context, &out)
        settle(cell, &out)
        return true
    }

    /// Relays the rest of a body of known length straight to the origin, because nothing is left to decide.
    mutating func relayRequest(_ cell: ExchangeCell) {
        guard cell.exchange.streamsRaw, !cell.exchange.log.capture.wantsRequest, let rest = codec.rawRequestBody else {
            return
        }
        relays.begin(.client, rest, of: cell.exchange.id)
    }
}
