public import HTTP1
public import HTTPCodec
import Interception
public import TLSEngine

/// What happens at origins, elsewhere, and with time.
extension ClientConnection {
    // MARK: origins

    /// The driver has begun a step of the lease, which has its own timeout.
    public mutating func leaseReached(_ step: LeaseStep, _ id: ExchangeID, now: Int) {
        guard isConnecting(id) else { return http.exchanges[id]?.exchange.info.reached(step, now) ?? () }
        tunnel.reached(step, until: now + http.engine.settings.timeouts.of(step))
        stage.wait(until: tunnel.deadline)
    }

    /// Handles bytes from the origin.
    /// - Parameter origin: the codec that parses them.
    public mutating func received(
        _ bytes: Span<UInt8>, through origin: inout HTTP1Client, for id: ExchangeID, now: Int,
        _ out: inout CommandBuffer
    ) {
        out.now = now
        var position = 0
        if !hears(id) {
            http.received(bytes, &position, through: &origin, for: id, &out)
            follow(&out)
            guard hears(id) else { return }
        }
        if position < bytes.count { tunnelBytes(bytes.extracting(position...), &out) }
    }

    /// Handles an event of a response on a multiplexed connection.
    /// - Parameters:
    ///   - event: the codec's event.
    ///   - bytes: the bytes that the event came from.
    public mutating func received(
        _ event: ResponseEvent, of bytes: Span<UInt8>, through origin: any StreamClient, for id: ExchangeID, now: Int,
        _ out: inout CommandBuffer
    ) {
        out.now = now
        guard hears(id) else {
            http.received(event, of: bytes, through: origin, for: id, &out)
            return follow(&out)
        }
        switch event {
        case .data(let range):
            stage.wait(until: now + http.engine.settings.timeouts.tunnelIdle)
            tunnelBytes(bytes.extracting(range), &out)
        case .end: endOriginSide(id, cleanly: true, &out)
        case .needsMore, .interim, .head, .switched: break
        }
    }

    /// Counts bytes that the driver relayed from the origin to the client.
    public mutating func relayedFromOrigin(
        _ count: Int, through origin: inout HTTP1Client, for id: ExchangeID, now: Int, _ out: inout CommandBuffer
    ) {
        out.now = now
        http.relayedFromOrigin(count, through: &origin, for: id, &out)
        if isTunnel { stage.wait(until: now + http.engine.settings.timeouts.tunnelIdle) }
        follow(&out)
    }

    /// The origin sends no more.
    /// - Parameters:
    ///   - cleanly: false when the connection broke, which never ends a response.
    ///   - fault: the TLS error, if TLS broke.
    public mutating func originEnded(
        through origin: inout HTTP1Client, for id: ExchangeID, cleanly: Bool = true, fault: TLSFault? = nil, now: Int,
        _ out: inout CommandBuffer
    ) {
        out.now = now
        if hears(id) {
            if !isTunnel { tellTunnel(.originEnded(cleanly: cleanly), &out) }
            return isTunnel ? endOriginSide(id, cleanly: cleanly, &out) : ()
        }
        if stage.isOver, http.exchanges[id]?.exchange.isOrphan != true { return }
        http.originEnded(through: &origin, for: id, cleanly: cleanly, fault: fault, &out)
        follow(&out)
    }

    /// Writing to the origin failed. Its earlier bytes are still read; further bytes of the client are dropped.
    public mutating func originLost(_ id: ExchangeID, now: Int, _ out: inout CommandBuffer) {
        guard let cell = http.exchanges[id] else { return }
        cell.origin.lose()
        originTook(cell, now, &out)
    }

    /// Reports how many bytes are queued for an exchange's origin.
    public mutating func queuedForOrigin(
        _ count: Int, of id: ExchangeID, highWater: Int = Self.highWater, now: Int, _ out: inout CommandBuffer
    ) {
        guard let cell = http.exchanges[id] else { return }
        cell.origin.holds(count, highWater: highWater)
        if cell.origin.isDone { originTook(cell, now, &out) }
    }

    private mutating func originTook(_ cell: ExchangeCell, _ now: Int, _ out: inout CommandBuffer) {
        out.now = now
        http.originTook(cell, &out)
        follow(&out)
        finishTunnel(&out)
    }

    // MARK: other events

    public mutating func happened(_ event: ExchangeEvent, to id: ExchangeID, now: Int, _ out: inout CommandBuffer) {
        out.now = now
        switch event {
        case .leased where isConnecting(id):
            http.released(id)
            tellTunnel(.connected, &out)
        case .leaseFailed(let failure) where isConnecting(id): tellTunnel(.failed(failure), &out)
        case .reached where isConnecting(id): tellTunnel(.reachable, &out)
        case .originBroke where hears(id), .streamEnded where hears(id): endOriginSide(id, cleanly: false, &out)
        default:
            http.happened(event, to: id, &out)
            follow(&out)
        }
    }

    /// Accepts no further streams; the connection ends with the open ones.
    /// - Returns: false when the connection is not multiplexed, does not serve HTTP, or was already leaving.
    public mutating func leave(now: Int, _ out: inout CommandBuffer) -> Bool {
        guard http.carriesMany, case .serving = stage.state, http.next?.isKept != false else { return false }
        out.now = now
        http.leaveStreams(http.engine, &out)
        follow(&out)
        return true
    }

    // MARK: time

    /// Restarts idle timeouts when the driver relayed bytes or a slow reader took some.
    /// - Parameters:
    ///   - side: the side that took bytes.
    ///   - id: the exchange whose origin stream moved; nil when any may have.
    public mutating func touched(_ side: ConnectionSide, _ id: ExchangeID? = nil, now: Int) {
        if http.context.hasEnded { http.context.endedAt = now }
        switch stage.state {
        case .tunnel: stage.wait(until: now + http.engine.settings.timeouts.tunnelIdle)
        case .lingering, .closed: stage.wait(until: now + http.engine.settings.timeouts.idle)
        case .serving: http.touched(side, id, now: now)
        case .preface, .awaitingHello, .securing, .connect: break
        }
    }

    /// When `woke` must be called.
    public var wakeAt: Int {
        if stage.isServing { min(http.orphansWakeAt, http.wakeAt) } else { min(http.orphansWakeAt, deadline) }
    }

    /// Acts on the timeouts that are due.
    public mutating func woke(now: Int, _ out: inout CommandBuffer) {
        out.now = now
        http.wakeOrphans(&out)
        if case .serving = stage.state, http.woke(&out) { return follow(&out) }
        guard now >= deadline else { return }
        switch stage.state {
        case .serving:
            http.timedOut(&out)
            follow(&out)
        case .preface: fail(.latePreface, &out)
        case .securing, .awaitingHello(begun: true): fail(.lateHandshake, &out)
        case .connect: tellTunnel(.timedOut, &out)
        case .awaitingHello, .tunnel, .lingering: close(reset: false, &out)
        case .closed:
            // the client does not read its queued bytes, so nothing is due
            stage.wait(until: .max)
            out.commands.append(.closeClient(reset: true))
        }
    }
}
