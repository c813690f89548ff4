import Formats
import HTTP1
import HTTPCodec
import Interception

/// What the client sends: used as far as the present stage wants it, and kept for later.
extension ClientConnection {
    /// Bytes of later requests that are kept while one is under way; more make the client wait.
    private static let pipelineBuffer = 64 << 10

    private var isOver: Bool {
        switch stage {
        case .lingering, .closed: true
        case .preface, .awaitingHello, .securing, .serving, .connecting, .peeking, .tunnel: false
        }
    }

    mutating func clientBytes(_ bytes: Span<UInt8>, _ out: inout Outbox) {
        if isOver { return }
        if intake.pending.isEmpty {
            let used = use(bytes, &out)
            intake.hasMore = false
            if used < bytes.count, !isOver { intake.pending.append(bytes.extracting(used...)) }
        } else {
            intake.pending.append(bytes)
            drainPending(&out)
        }
        // a head has a limit of its own, and nothing but its end would let the client go on
        if intake.pending.count >= Self.pipelineBuffer, !awaitsRequest { intake.isPaused = true }
    }

    mutating func drainPending(_ out: inout Outbox) {
        guard !intake.pending.isEmpty else { return }
        var buffer: [UInt8] = []
        swap(&buffer, &intake.pending)
        let used = use(buffer.span, &out)
        intake.hasMore = false
        if isOver { return }
        if used == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= Self.pipelineBuffer)
        } else if used > 0 {
            buffer.removeFirst(used)
        }
        swap(&buffer, &intake.pending)
        let isRoomy = intake.pending.count < Self.pipelineBuffer || awaitsRequest
        if isRoomy, intake.proceeding == .no { intake.isPaused = false }
        if context.hasEnded { missEnd(&out) }
    }

    /// The client has sent all that it will: what is still incomplete then stays so.
    mutating func missEnd(_ out: inout Outbox) {
        guard case .serving = stage, !codec.isMultiplexed else { return }
        guard let cell = current, !cell.exchange.isReading else {
            return intake.proceeding == .no ? close(reset: false, &out) : ()
        }
        cell.exchange.clientEnded(lacksBody: !codec.isComplete, &out)
        settle(cell, &out)
    }

    /// Uses as many bytes as the present stage wants.
    private mutating func use(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Int {
        var position = 0
        // what was read before may hold further events
        while position < bytes.count || codec.isMultiplexed {
            switch stage {
            case .serving:
                if isUnused, !codec.isMultiplexed, engine.settings.http2.clients {
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
            case .peeking(let tunnel):
                guard peek(bytes.extracting(position...), tunnel, &out) else { return position }
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
            case .connecting, .securing, .lingering, .closed: return position
            }
        }
        return position
    }

    /// Bytes of the tunnel.
    private mutating func pass(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        guard case .tunnel(let id) = stage else { return false }
        wait(until: out.now + engine.settings.timeouts.tunnelIdle)
        out.sendRaw(bytes, of: id)
        cell(id)?.exchange.log.record.requestBytes += UInt64(bytes.count)
        return true
    }

    // MARK: requests

    /// Reads what comes next: of the exchange that is under way, of the next one, or of any that has a stream.
    /// - Returns: false where nothing more is wanted now.
    private mutating func serve(_ bytes: Span<UInt8>, _ position: inout Int, _ out: inout Outbox) -> Bool {
        var place: ExchangeCell?
        if !codec.isMultiplexed {
            let cell = current ?? beginHead(&out)
            if !cell.exchange.isReading {
                guard cell.exchange.wantsBody else { return false }
                cell.exchange.bodyMoves(out.now)
            }
            place = cell
        }
        do throws(HTTPFault) {
            let event = try codec.read(bytes, &position, into: place, engine, &out)
            intake.hasMore = position < bytes.count
            guard take(event, of: bytes, place, &out) else { return false }
        } catch {
            guard let place else {
                closeStreams(&out)
                return false
            }
            place.exchange.bodyBroke(error, &out)
            settle(place, &out)
        }
        // answered here, and over: the next one has to wait until its record was read
        guard let place, place.exchange.isOver, case .serving = stage else { return true }
        if position < bytes.count { orderProceed(&out) }
        return false
    }

    /// - Parameter place: whose event it is, where there is one stream.
    /// - Returns: false where nothing more can be read.
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
            guard let cell = place ?? cell(on: stream) else {
                codec.used(range.count, of: stream, &out)
                break
            }
            bodyCame(bytes.extracting(range), of: cell, &out)
            if cell.stream == nil, !endBody(of: cell, &out), range.upperBound == bytes.count { relayRequest(cell) }
        case .end(let stream):
            guard let cell = place ?? cell(on: stream) else { break }
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
            guard let cell = cell(on: stream) else { break }
            if cell.stream?.tunnel == nil { cell.exchange.log.tell(.cancelled, out.now) }
            cell.exchange.noteAbandoned(out.now)
            cell.exchange.cut(reset: true, &out)
            settle(cell, &out)
        case .violated(let stream, let fault):
            guard let cell = cell(on: stream) else { break }
            let error = ProxyError.broken(fault)
            cell.exchange.log.tell(.failed(token: error.token, details: error.details), out.now)
            cell.exchange.cut(reset: true, &out)
            settle(cell, &out)
        }
        return true
    }

    /// The first byte of a head is here; the rest has to follow.
    private mutating func beginHead(_ out: inout Outbox) -> ExchangeCell {
        wait(until: out.now + engine.settings.timeouts.header)
        return begin(&out)
    }

    /// The next request's head, or its first byte, has not come in time.
    mutating func requestTimedOut(_ out: inout Outbox) {
        guard let cell = current else { return close(reset: false, &out) }
        codec.giveUpHead()
        // its fields point at bytes that are not kept, and nothing of it may colour the answer
        cell.exchange.request = RequestHead()
        startRecord(of: cell, &out)
        cell.exchange.answer(.requestTimeout, isLast: true, &out)
        settle(cell, &out)
    }

    /// Tells the exchange that its body is whole, where it is and the exchange wants to know.
    @discardableResult
    mutating func endBody(of cell: ExchangeCell, _ out: inout Outbox) -> Bool {
        guard codec.isComplete, cell.exchange.wantsBody else { return false }
        let disposition = cell.exchange.bodyEnded(trailers: codec.trailers, &context, &out)
        if disposition == .pass {
            out.orders.append(
                .sendEnd(
                    cell.exchange.id, trailers: cell.exchange.engine.passed(codec.trailers, cell.exchange.sentHead)))
        }
        settle(cell, &out)
        return true
    }

    /// The rest of a body of known length needs no decision: it goes straight to the origin.
    mutating func relayRequest(_ cell: ExchangeCell) {
        guard cell.exchange.streamsRaw, !cell.exchange.log.capture.wantsRequest, let rest = codec.rawRequestBody else {
            return
        }
        relays[.client] = rest
    }
}
