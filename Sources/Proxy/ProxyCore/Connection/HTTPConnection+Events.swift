import HTTP1
import HTTPCodec
public import Interception
import TLSEngine

/// What happens to the exchanges: at their origins, elsewhere, and with time.
extension HTTPConnection {
    // MARK: origins

    /// Handles bytes from the origin.
    /// - Parameter position: where the tunnel's bytes begin, if the exchange becomes one.
    mutating func received(
        _ bytes: Span<UInt8>, _ position: inout Int, through origin: inout HTTP1Client, for id: ExchangeID,
        _ out: inout CommandBuffer
    ) {
        guard let cell = exchanges[id] else { return origin.preventReuse() }
        if cell.stream?.tunnel?.awaitsAnswer == true {
            cell.readCarried(bytes, &position, through: &origin, &codec, engine, &out)
            if cell.exchange.isOver { settle(cell, &out) }
        } else if cell.stream?.tunnel == nil {
            read(bytes, &position, through: &origin, for: cell, &out)
        }
        guard cell.stream?.tunnel != nil, exchanges[id] === cell else { return }
        cell.deliver(bytes.extracting(position...), codec, idle: engine.settings.timeouts.tunnelIdle, &out)
    }

    /// Reads bytes from the origin while the exchange wants them.
    private mutating func read(
        _ bytes: Span<UInt8>, _ position: inout Int, through origin: inout HTTP1Client, for cell: ExchangeCell,
        _ out: inout CommandBuffer
    ) {
        guard cell.exchange.awaitsResponse else { return origin.preventReuse() }
        if position < bytes.count { cell.exchange.answering(out.now) }
        while cell.exchange.awaitsResponse {
            switch cell.readResponse(bytes, &position, through: &origin, &codec, &context, &out) {
            case .passed: break
            case .changed: settle(cell, &out)
            case .needsMore: return relayResponse(cell, origin)
            case .broke: return settle(cell, &out)
            }
        }
        if position < bytes.count { origin.preventReuse() }
    }

    /// Relays a body straight to the client when nothing needs to read it.
    private mutating func relayResponse(_ cell: ExchangeCell, _ origin: borrowing HTTP1Client) {
        guard cell.exchange.stage.deliversRaw, codec.writesRaw, !cell.exchange.log.capture.wantsResponse,
            let rest = origin.rawBody
        else { return }
        relays.begin(.origin, rest, of: cell.exchange.id)
    }

    /// Counts bytes that the driver relayed from the origin to the client.
    mutating func relayedFromOrigin(
        _ count: Int, through origin: inout HTTP1Client, for id: ExchangeID, _ out: inout CommandBuffer
    ) {
        relays.pass(.origin, UInt64(count))
        guard let cell = exchanges[id] else { return }
        cell.exchange.responseBodyPassed(UInt64(count))
        if cell.exchange.isTunnelling { return }
        cell.exchange.info.touched(.client, isSent: cell.exchange.attempt.isSent, out.now)
        guard origin.passed(UInt64(count)) else { return }
        cell.exchange.responseEnded(trailers: [], &context, &out)
        settle(cell, &out)
    }

    /// Handles an event of a response on a multiplexed connection.
    mutating func received(
        _ event: ResponseEvent, of bytes: Span<UInt8>, through origin: any StreamClient, for id: ExchangeID,
        _ out: inout CommandBuffer
    ) {
        guard let cell = exchanges[id] else { return }
        if cell.exchange.isTunnelling { return tunnelCame(event, bytes, for: cell, &out) }
        guard cell.exchange.awaitsResponse else { return }
        cell.exchange.answering(out.now)
        switch event {
        case .needsMore: return
        case .data, .end:
            let progress = cell.takeBody(event, bytes, trailers: origin.trailers, &codec, &context, &out)
            if case .passed = progress { return }
        case .interim, .head, .switched: cell.takeHead(event, &origin.head, &context, &out)
        }
        settle(cell, &out)
    }

    /// Handles an event on the origin's stream of a tunnel in a stream of the client (RFC 8441).
    private mutating func tunnelCame(
        _ event: ResponseEvent, _ bytes: Span<UInt8>, for cell: ExchangeCell, _ out: inout CommandBuffer
    ) {
        switch event {
        case .data(let range):
            cell.deliver(bytes.extracting(range), codec, idle: engine.settings.timeouts.tunnelIdle, &out)
        case .end: endTunnel(of: cell, cleanly: true, &out)
        case .needsMore, .interim, .head, .switched: break
        }
    }

    /// The origin of a tunnel in a stream sends no more.
    /// - Parameter cleanly: false when its bytes may be truncated, and it receives no more either.
    private mutating func endTunnel(of cell: ExchangeCell, cleanly: Bool, _ out: inout CommandBuffer) {
        guard !cell.exchange.isOver else { return }
        cell.endOriginSide(cleanly: cleanly, &codec, idle: engine.settings.timeouts.tunnelIdle, &out)
        settle(cell, &out)
    }

    /// The origin sends no more.
    mutating func originEnded(
        through origin: inout HTTP1Client, for id: ExchangeID, cleanly: Bool, fault: TLSFault?,
        _ out: inout CommandBuffer
    ) {
        let cell = exchanges[id]
        if let cell, cell.stream?.tunnel != nil { return endTunnel(of: cell, cleanly: cleanly, &out) }
        let isWhole = origin.ended(cleanly: cleanly)
        cell?.origin.end()
        guard let cell, !cell.exchange.isOver else { return }
        if isWhole {
            cell.exchange.responseEnded(trailers: [], &context, &out)
        } else {
            cell.exchange.came(.ended(.connection(nil), fault), &context, &out)
        }
        settle(cell, &out)
    }

    // MARK: queues

    /// The exchange has no origin any more, so nothing is queued for it.
    public func released(_ id: ExchangeID) { exchanges[id]?.origin = Endpoint() }

    /// The origin of an exchange has taken all that was queued for it, or takes no more.
    mutating func originTook(_ cell: ExchangeCell, _ out: inout CommandBuffer) {
        cell.grant(codec, &out)
        guard cell.stream?.tunnel != nil, !cell.exchange.isOver else { return }
        cell.finishTunnel(&out)
        settle(cell, &out)
    }

    /// Whether to read from the exchange's origin now.
    public func readsOrigin(of id: ExchangeID) -> Bool {
        guard let cell = exchanges[id], !cell.origin.hasEnded, !cell.exchange.stage.isPacedFull else { return false }
        // a call without a caller does not depend on the client
        if cell.exchange.isOrphan { return true }
        guard client.queue != .full else { return false }
        guard let stream = cell.stream?.id else { return true }
        return codec.waiting(on: stream) <= Endpoint.highWater
    }

    // MARK: other events

    mutating func happened(_ event: ExchangeEvent, to id: ExchangeID, _ out: inout CommandBuffer) {
        if case .leased = event { released(id) }
        guard let cell = exchanges[id], !cell.exchange.isOver else {
            if case .leased = event { out.commands.append(.release(id, reusable: true)) }
            return
        }
        switch event {
        case .tunnelRefused(let refusal): notCarried(refusal, cell, &out)
        case .originBroke where cell.stream?.tunnel != nil, .streamEnded where cell.stream?.tunnel != nil:
            return endTunnel(of: cell, cleanly: false, &out)
        default: guard cell.take(event, &context, &out) else { return }
        }
        settle(cell, &out)
        if case .leased = event { return takeMore(of: cell, waits: true, &out) }
        guard case .authenticated = event, sequel == nil, !cell.exchange.isOver else { return }
        // the body or its end may have arrived during the check
        if cell.stream != nil { return takeMore(of: cell, waits: false, &out) }
        if !intake.isEmpty { sequel = .read } else if context.hasEnded { missEnd(&out) }
    }

    /// Whether the exchange waits for this ticket: its wait may have ended since it was ordered.
    public func awaits(_ ticket: WaitingTicket, _ id: ExchangeID) -> Bool {
        exchanges[id]?.exchange.awaits(ticket) ?? false
    }

    // MARK: time

    /// Restarts idle timeouts of exchanges.
    mutating func touched(_ side: ConnectionSide, _ id: ExchangeID?, now: Int) {
        if exchanges.isEmpty { waitIdle(now) }
        for cell in exchanges.cells where id == nil || cell.exchange.id == id { touched(side, cell, now) }
        for call in exchanges.calls.cells where id == nil || call.exchange.id == id { touched(side, call, now) }
    }

    private func touched(_ side: ConnectionSide, _ cell: ExchangeCell, _ now: Int) {
        // the client may have read other streams: only the streams that it holds up count as moving
        if side == .client, codec.isMultiplexed, readsOrigin(of: cell.exchange.id) { return }
        cell.exchange.info.touched(side, isSent: cell.exchange.attempt.isSent, now)
        if cell.stream?.tunnel != nil { cell.keepTunnel(until: now + engine.settings.timeouts.tunnelIdle) }
    }

    /// When calls without a caller must be woken.
    var orphansWakeAt: Int { exchanges.orphansWakeAt(clientEnded: context.endedAt) }

    /// When the exchanges and streams must be woken.
    var wakeAt: Int {
        if let time = exchanges.wakeAt(clientEnded: context.endedAt) { return min(remains.dueAt, time) }
        return min(remains.dueAt, remains.restAt, deadline)
    }

    mutating func wakeOrphans(_ out: inout CommandBuffer) {
        for call in exchanges.calls.orphans {
            call.exchange.woke(&context, &out)
            settle(call, &out)
        }
    }

    /// Acts on the timeouts that are due.
    /// - Returns: false when no exchange is under way.
    mutating func woke(_ out: inout CommandBuffer) -> Bool {
        remains.resetDue(codec, &out)
        // releases memory when nothing has moved for a while
        if remains.takeRest(out.now), !isBusy { codec.rest() }
        guard let cell = exchanges.current, !cell.exchange.isReading else { return false }
        // the client's exchanges come first, because they end their calls when they give up
        for cell in exchanges.cells where !cell.exchange.isOver {
            if let tunnel = cell.stream?.tunnel, out.now >= tunnel.deadline {
                cell.exchange.cut(reset: false, &out)
            } else {
                cell.exchange.woke(&context, &out)
            }
            settle(cell, &out)
            // a paced body may have room for more
            if cell.exchange.attempt.upload != nil { takeMore(of: cell, waits: false, &out) }
        }
        for call in exchanges.calls.awaited where !call.exchange.isOver {
            call.exchange.woke(&context, &out)
            settle(call, &out)
        }
        return true
    }
}
