public import HTTP1
public import HTTPCodec
public import Interception
public import Passwords
public import TLSEngine

/// The events that the driver reports to a client's connection.
extension ClientConnection {
    // MARK: bytes

    public mutating func received(_ bytes: Span<UInt8>, now: Int, _ out: inout Outbox) {
        out.now = now
        clientBytes(bytes, &out)
    }

    /// Continues with bytes of the next request that were already here.
    public mutating func proceed(now: Int, _ out: inout Outbox) {
        out.now = now
        guard client.queue != .full else { return intake.proceeding = .putOff }
        intake.proceeding = .no
        drainPending(&out)
    }

    /// Counts bytes that the driver relayed from the client to the origin.
    public mutating func relayedFromClient(_ count: Int, now: Int, _ out: inout Outbox) {
        out.now = now
        relays.pass(.client, UInt64(count))
        guard let cell = exchanges.current else { return }
        if cell.exchange.isTunnelling {
            cell.exchange.log.record.requestBytes += UInt64(count)
            return wait(until: now + engine.settings.timeouts.tunnelIdle)
        }
        codec.passed(UInt64(count))
        cell.exchange.touched(.origin, now)
        cell.exchange.bodyPassed(UInt64(count), isWhole: codec.isComplete, now)
        if codec.isComplete { out.orders.append(.sendEnd(cell.exchange.id, trailers: [])) }
    }

    /// Restarts idle timeouts when the driver relayed bytes or a slow reader took some.
    /// - Parameters:
    ///   - side: the side that took bytes.
    ///   - id: the exchange whose origin stream moved; nil when any may have.
    public mutating func touched(_ side: Leg, _ id: ExchangeID? = nil, now: Int) {
        if context.hasEnded { context.endedAt = now }
        switch stage {
        case .tunnel: wait(until: now + engine.settings.timeouts.tunnelIdle)
        case .lingering, .closed: wait(until: now + engine.settings.timeouts.idle)
        case .serving:
            if exchanges.isEmpty { wait(until: now + engine.settings.timeouts.idle) }
            for cell in exchanges.cells where id == nil || cell.exchange.id == id { touched(side, cell, now) }
            for call in exchanges.calls.cells where id == nil || call.exchange.id == id { touched(side, call, now) }
        case .preface, .awaitingHello, .securing, .connect: break
        }
    }

    private mutating func touched(_ side: Leg, _ cell: ExchangeCell, _ now: Int) {
        // the client may have read other streams: only the streams that it holds up count as moving
        if side == .client, codec.isMultiplexed, readsOrigin(of: cell.exchange.id) { return }
        cell.exchange.touched(side, now)
        if cell.stream?.tunnel != nil { cell.keepTunnel(until: now + engine.settings.timeouts.tunnelIdle) }
    }

    /// The client sends no more.
    public mutating func clientEnded(now: Int, _ out: inout Outbox) {
        out.now = now
        context.endedAt = now
        switch stage {
        case .closed, .securing: return
        case .tunnel(let id): return clientEndedTunnel(id, &out)
        case .connect: return tellTunnel(.clientEnded(inStream: context.source.isInStream), &out)
        case .preface, .awaitingHello, .lingering: return close(reset: false, &out)
        case .serving: break
        }
        // a multiplexed client closes its streams one by one
        guard !codec.isMultiplexed, let cell = exchanges.current, !cell.exchange.isReading else {
            return clientGone(reset: false, &out)
        }
        if case .collecting = cell.exchange.stage.state { return close(reset: false, &out) }
        // a client may have closed only its sending side and still wait for the response
        if cell.exchange.giveUpWait(&out) { return settle(cell, &out) }
        missEnd(&out)
    }

    /// All bytes for the client are sent: it now has a short time to close its side.
    public mutating func clientDrained(now: Int) {
        if case .lingering = stage { wait(until: now + Self.lingering) }
    }

    private static let lingering = 2_000

    /// Writing to the client failed, so the client is gone.
    public mutating func clientLost(now: Int, _ out: inout Outbox) {
        out.now = now
        // a tunnel's bytes are no partial response
        if !isClosed { clientGone(reset: !isTunnel, &out) }
    }

    private mutating func clientGone(reset: Bool, _ out: inout Outbox) {
        for cell in exchanges.cells where !cell.exchange.isOver && !cell.exchange.isReading {
            cell.exchange.noteAbandoned(out.now)
        }
        close(reset: reset, &out)
    }

    // MARK: an origin's stream

    /// - Parameter sendsRaw: body bytes may be relayed to the origin unread.
    public mutating func leased(
        _ id: ExchangeID, reused: Bool, sendsRaw: Bool = true, now: Int, _ out: inout Outbox
    ) {
        out.now = now
        exchanges[id]?.origin = Endpoint()
        if case .connect = stage { return tellTunnel(.connected, &out) }
        guard let cell = exchanges[id], !cell.exchange.isOver else {
            return out.orders.append(.release(id, reusable: true))
        }
        cell.exchange.leased(reused: reused, sendsRaw: sendsRaw && cell.stream == nil, &context, &out)
        settle(cell, &out)
        if cell.stream != nil { return pump(cell, &out) }
        guard cell.exchange.wantsBody, !endBody(of: cell, &out) else { return }
        if !intake.isEmpty {
            drainPending(&out)
        } else if context.hasEnded {
            // the client has ended, so no more of the body will come
            missEnd(&out)
        } else {
            relayRequest(cell)
        }
        intake.resume()
    }

    /// The driver has begun a step of the lease, which has its own timeout.
    public mutating func leaseReached(_ step: LeaseStep, _ id: ExchangeID, now: Int) {
        switch stage {
        case .connect:
            tunnel.reached(step, until: now + engine.settings.timeouts.of(step))
            wait(until: tunnel.deadline)
        default: exchanges[id]?.exchange.leaseReached(step, now)
        }
    }

    /// The driver could not connect to the origin.
    public mutating func leaseFailed(
        _ failure: LeaseFailure, _ id: ExchangeID, now: Int, _ out: inout Outbox
    ) {
        out.now = now
        switch stage {
        case .connect: tellTunnel(.failed(failure), &out)
        default:
            guard let cell = exchanges[id] else { return }
            cell.exchange.leaseFailed(failure, &context, &out)
            settle(cell, &out)
        }
    }

    /// Handles bytes from the origin.
    /// - Parameter origin: the codec that parses them.
    public mutating func received(
        _ bytes: Span<UInt8>, through origin: inout HTTP1Client, for id: ExchangeID, now: Int, _ out: inout Outbox
    ) {
        out.now = now
        var position = 0
        if !isTunnel, !tunnel.isPeeking {
            if let cell = exchanges[id], let tunnel = cell.stream?.tunnel {
                if tunnel.awaitsAnswer {
                    cell.readCarried(bytes, &position, through: &origin, &codec, engine, &out)
                    if cell.exchange.isOver { settle(cell, &out) }
                }
            } else {
                read(bytes, &position, through: &origin, for: id, &out)
            }
            if let cell = exchanges[id], cell.stream?.tunnel != nil {
                return cell.deliver(
                    bytes.extracting(position...), codec, idle: engine.settings.timeouts.tunnelIdle, &out)
            }
            guard isTunnel else { return }
        }
        if position < bytes.count { tunnelBytes(bytes.extracting(position...), &out) }
    }

    /// Handles an event of a response on a multiplexed connection.
    /// - Parameters:
    ///   - event: the codec's event.
    ///   - bytes: the bytes that the event came from.
    public mutating func received(
        _ event: ResponseEvent, of bytes: Span<UInt8>, through origin: any StreamClient, for id: ExchangeID, now: Int,
        _ out: inout Outbox
    ) {
        out.now = now
        guard let cell = exchanges[id] else { return }
        if cell.exchange.isTunnelling { return tunnelCame(event, bytes, for: cell, &out) }
        guard cell.exchange.awaitsResponse else { return }
        cell.exchange.answering(now)
        switch event {
        case .needsMore: return
        case .data, .end:
            let progress = cell.takeBody(event, bytes, trailers: origin.trailers, &codec, &context, &out)
            if case .passed = progress { return }
        case .interim, .head, .switched: cell.takeHead(event, &origin.head, &context, &out)
        }
        settle(cell, &out)
    }

    /// The response on a stream is invalid HTTP.
    public mutating func originBroke(_ fault: HTTPFault, for id: ExchangeID, now: Int, _ out: inout Outbox) {
        out.now = now
        guard let cell = exchanges[id], !cell.exchange.isOver else { return }
        if cell.exchange.isTunnelling { return endOrigin(of: cell, cleanly: false, &out) }
        cell.exchange.originBroke(fault, &context, &out)
        settle(cell, &out)
    }

    /// The stream ended before the response was complete.
    public mutating func streamEnded(for id: ExchangeID, _ ending: StreamEnding, now: Int, _ out: inout Outbox) {
        out.now = now
        guard let cell = exchanges[id], !cell.exchange.isOver else { return }
        cell.origin.end()
        if cell.exchange.isTunnelling { return endOrigin(of: cell, cleanly: false, &out) }
        cell.exchange.originEnded(ending, &context, &out)
        settle(cell, &out)
    }

    /// Counts bytes that the driver relayed from the origin to the client.
    public mutating func relayedFromOrigin(
        _ count: Int, through origin: inout HTTP1Client, for id: ExchangeID, now: Int, _ out: inout Outbox
    ) {
        out.now = now
        relays.pass(.origin, UInt64(count))
        guard let cell = exchanges[id] else { return }
        cell.exchange.responseBodyPassed(UInt64(count))
        if cell.exchange.isTunnelling { return wait(until: now + engine.settings.timeouts.tunnelIdle) }
        cell.exchange.touched(.client, now)
        guard origin.passed(UInt64(count)) else { return }
        cell.exchange.responseEnded(trailers: [], &context, &out)
        settle(cell, &out)
    }

    /// The origin sends no more.
    /// - Parameters:
    ///   - cleanly: false when the connection broke, which never ends a response.
    ///   - fault: the TLS error, if TLS broke.
    public mutating func originEnded(
        through origin: inout HTTP1Client, for id: ExchangeID, cleanly: Bool = true, fault: TLSFault? = nil, now: Int,
        _ out: inout Outbox
    ) {
        out.now = now
        switch stage {
        case .connect where tunnel.isPeeking:
            tellTunnel(.originEnded(cleanly: cleanly), &out)
            if isTunnel { originEndedTunnel(id, cleanly: cleanly, &out) }
            return
        case .tunnel: return originEndedTunnel(id, cleanly: cleanly, &out)
        case .lingering, .closed: if exchanges[id]?.exchange.isOrphan != true { return }
        case .preface, .awaitingHello, .securing, .serving, .connect: break
        }
        if let cell = exchanges[id], cell.stream?.tunnel != nil { return endOrigin(of: cell, cleanly: cleanly, &out) }
        let isWhole = origin.ended(cleanly: cleanly)
        exchanges[id]?.origin.end()
        guard let cell = exchanges[id], !cell.exchange.isOver else { return }
        if isWhole {
            cell.exchange.responseEnded(trailers: [], &context, &out)
        } else {
            cell.exchange.originEnded(fault: fault, .connection(nil), &context, &out)
        }
        settle(cell, &out)
    }

    // MARK: passwords

    /// Handles the verdict of a password check. A late verdict finds another exchange or stage and is ignored.
    public mutating func authenticated(
        _ verdict: PasswordVerdict, _ id: ExchangeID, now: Int, _ out: inout Outbox
    ) {
        out.now = now
        guard let cell = exchanges[id], case .authenticating = cell.exchange.stage.state else { return }
        cell.exchange.authenticated(verdict, &context, &out)
        settle(cell, &out)
        // the exchange is already over, and what follows has been ordered
        if cell.exchange.isOver { return }
        if cell.stream != nil { return pump(cell, &out) }
        // the body or its end may have arrived during the check
        if !intake.isEmpty { drainPending(&out) } else if context.hasEnded { missEnd(&out) }
    }

    // MARK: external code

    /// Handles the result of external code for an exchange.
    public mutating func intercepted(_ answer: SwiftAnswer, _ id: ExchangeID, now: Int, _ out: inout Outbox) {
        out.now = now
        guard let cell = exchanges[id], case .intercepting = cell.exchange.stage.state else { return }
        cell.exchange.intercepted(answer, &context, &out)
        settle(cell, &out)
    }

    // MARK: waits

    /// The other exchange, the turn or the person that this exchange waits for has come.
    public mutating func ticketCame(_ ticket: WaitingTicket, _ id: ExchangeID, now: Int, _ out: inout Outbox) {
        out.now = now
        guard let cell = exchanges[id], !cell.exchange.isOver else { return }
        cell.exchange.ticketCame(ticket, &context, &out)
        settle(cell, &out)
    }

    /// Whether the exchange waits for this ticket.
    public func awaits(_ ticket: WaitingTicket, _ id: ExchangeID) -> Bool {
        exchanges[id]?.exchange.awaits(ticket) ?? false
    }

    // MARK: time

    /// When `woke` must be called.
    public var wakeAt: Int {
        let orphans = exchanges.orphansWakeAt(clientEnded: context.endedAt)
        guard case .serving = stage else { return min(orphans, deadline) }
        if let time = exchanges.wakeAt(clientEnded: context.endedAt) { return min(orphans, remains.dueAt, time) }
        return min(orphans, remains.dueAt, remains.restAt, deadline)
    }

    /// Acts on the timeouts that are due.
    public mutating func woke(now: Int, _ out: inout Outbox) {
        out.now = now
        for call in exchanges.calls.orphans {
            call.exchange.woke(&context, &out)
            settle(call, &out)
        }
        if case .serving = stage {
            remains.resetDue(codec, &out)
            restStreams(&out)
        }
        guard case .serving = stage, let cell = exchanges.current, !cell.exchange.isReading else {
            if now >= deadline { timedOut(&out) }
            return
        }
        // the client's exchanges come first, because they end their calls when they give up
        for cell in exchanges.cells where !cell.exchange.isOver {
            if let tunnel = cell.stream?.tunnel, now >= tunnel.deadline {
                cell.exchange.cut(reset: false, &out)
            } else {
                cell.exchange.woke(&context, &out)
            }
            settle(cell, &out)
            takeMore(of: cell, &out)
        }
        for call in exchanges.calls.awaited where !call.exchange.isOver {
            call.exchange.woke(&context, &out)
            settle(call, &out)
        }
    }

    /// Reads more of a paced body when it has room.
    private mutating func takeMore(of cell: ExchangeCell, _ out: inout Outbox) {
        guard cell.exchange.attempt.upload != nil else { return }
        if cell.stream != nil { return pump(cell, &out) }
        guard cell.exchange.wantsBody, !endBody(of: cell, &out) else { return }
        drainPending(&out)
    }

    private mutating func timedOut(_ out: inout Outbox) {
        switch stage {
        case .preface: prefaceTimedOut(&out)
        case .serving where codec.isMultiplexed:
            sayGoodbye(&out)
            closeStreams(&out)
        case .serving: requestTimedOut(&out)
        case .securing: clientHandshakeTimedOut(&out)
        case .connect: tellTunnel(.timedOut, &out)
        case .awaitingHello(let begun): if begun { clientHandshakeTimedOut(&out) } else { close(reset: false, &out) }
        case .tunnel, .lingering: close(reset: false, &out)
        case .closed:
            // the client does not read its queued bytes, so nothing is due
            wait(until: .max)
            out.orders.append(.closeClient(reset: true))
        }
    }
}
