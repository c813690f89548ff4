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
        guard case .serving = stage, streams == nil else { return }
        guard let cell = current, !cell.exchange.isReading else {
            return intake.proceeding == .no ? close(reset: false, &out) : ()
        }
        cell.exchange.clientEnded(lacksBody: !leg.isComplete, &out)
        settle(cell, &out)
    }

    /// Uses as many bytes as the present stage wants.
    private mutating func use(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Int {
        var position = 0
        while position < bytes.count {
            switch stage {
            case .serving:
                if let streams {
                    serve(bytes.extracting(position...), by: streams, &out)
                    return bytes.count
                }
                if isUnused, engine.settings.http2.clients {
                    switch HTTP2Preface(bytes.extracting(position...)) {
                    case .absent: break
                    case .present:
                        serveStreams(out)
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

    /// Reads what belongs to the exchange that is under way, or the head of the next one.
    /// - Returns: false where nothing more is wanted now.
    private mutating func serve(_ bytes: Span<UInt8>, _ position: inout Int, _ out: inout Outbox) -> Bool {
        let cell: ExchangeCell
        if let under = current, !under.exchange.isReading {
            guard under.exchange.wantsBody else { return false }
            cell = under
            guard readBody(of: cell, bytes, &position, &out) else { return false }
        } else {
            cell = current ?? beginHead(&out)
            guard readHead(of: cell, bytes, &position, &out) else { return false }
        }
        // answered here, and over: the next one has to wait until its record was read
        if cell.exchange.isOver, case .serving = stage {
            if position < bytes.count { orderProceed(&out) }
            return false
        }
        return true
    }

    /// The first byte of a head is here; the rest has to follow.
    private mutating func beginHead(_ out: inout Outbox) -> ExchangeCell {
        wait(until: out.now + engine.settings.timeouts.header)
        return begin(&out)
    }

    private mutating func readHead(
        of cell: ExchangeCell, _ bytes: Span<UInt8>, _ position: inout Int, _ out: inout Outbox
    ) -> Bool {
        do throws(HTTPFault) {
            guard
                let used = try leg.readHead(
                    bytes.extracting(position...), into: &cell.exchange.request, limits: engine.headLimits)
            else { return false }
            position += used
        } catch {
            position = bytes.count
            giveUpHead(of: cell, &out)
            cell.exchange.refuse(error, &out)
            settle(cell, &out)
            return true
        }
        intake.hasMore = position < bytes.count
        startRecord(of: cell, &out)
        cell.exchange.noteHead()
        if context.source.isInStream, context.tunnel == nil { cell.exchange.log.record.version = .http2 }
        do throws(HTTPFault) {
            let framing = try leg.begin(cell.exchange.request, maxTrailerBytes: engine.settings.limits.header)
            try cell.exchange.begin(framing, &context, &out)
        } catch {
            cell.exchange.refuse(error, &out)
        }
        settle(cell, &out)
        return true
    }

    /// Gives up a head that did not come whole: its fields point at bytes that are not kept, and nothing of it may colour the
    /// answer.
    private mutating func giveUpHead(of cell: ExchangeCell, _ out: inout Outbox) {
        leg.giveUpHead()
        cell.exchange.request = RequestHead()
        startRecord(of: cell, &out)
    }

    /// The next request's head, or its first byte, has not come in time.
    mutating func requestTimedOut(_ out: inout Outbox) {
        guard let cell = current else { return close(reset: false, &out) }
        giveUpHead(of: cell, &out)
        cell.exchange.answer(.requestTimeout, isLast: true, &out)
        settle(cell, &out)
    }

    private mutating func readBody(
        of cell: ExchangeCell, _ bytes: Span<UInt8>, _ position: inout Int, _ out: inout Outbox
    ) -> Bool {
        cell.exchange.bodyMoves(out.now)
        do throws(HTTPFault) {
            let event = try leg.readBody(bytes, &position)
            intake.hasMore = position < bytes.count
            switch event {
            case .data(let range):
                let piece = bytes.extracting(range)
                let disposition = cell.exchange.bodyCame(piece, &context, &out)
                if disposition == .pass { out.send(piece, of: cell.exchange.id) }
            case .end: break
            case .needsMore: return false
            }
        } catch {
            cell.exchange.bodyBroke(error, &out)
            settle(cell, &out)
            return true
        }
        settle(cell, &out)
        if !endBody(of: cell, &out), position == bytes.count { relayRequest(cell) }
        return true
    }

    /// Tells the exchange that its body is whole, where it is and the exchange wants to know.
    @discardableResult
    mutating func endBody(of cell: ExchangeCell, _ out: inout Outbox) -> Bool {
        guard leg.isComplete, cell.exchange.wantsBody else { return false }
        let disposition = cell.exchange.bodyEnded(trailers: leg.trailers, &context, &out)
        if disposition == .pass {
            out.orders.append(
                .sendEnd(cell.exchange.id, trailers: cell.exchange.engine.passed(leg.trailers, cell.exchange.sentHead)))
        }
        settle(cell, &out)
        return true
    }

    /// The rest of a body of known length needs no decision: it goes straight to the origin.
    mutating func relayRequest(_ cell: ExchangeCell) {
        guard cell.exchange.streamsRaw, !cell.exchange.log.capture.wantsRequest, let rest = leg.rawBody else { return }
        relays[.client] = rest
    }
}
