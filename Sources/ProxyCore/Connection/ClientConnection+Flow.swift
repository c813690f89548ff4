import HTTPCodec
import Interception

/// Implements back-pressure, half-close and the end of tunnels.
extension ClientConnection {
    // MARK: reading

    /// Whether to read from the client now.
    public var readsClient: Bool {
        if context.hasEnded || intake.isPaused { return false }
        // a client with a full queue gets no further responses
        if client.queue == .full, codec.isMultiplexed || awaitsRequest { return false }
        // each stream has its own flow-control window
        if codec.isMultiplexed { return true }
        return !exchanges.isOriginFull
    }

    /// Whether the client's queue is full, so that no origin is read.
    public var isClientFull: Bool { client.queue == .full }

    /// Whether to read from the exchange's origin now.
    public func readsOrigin(of id: ExchangeID) -> Bool {
        guard let cell = exchanges[id], !cell.origin.hasEnded, !cell.exchange.stage.isPacedFull else { return false }
        // a call without a caller does not depend on the client
        if cell.exchange.isOrphan { return true }
        guard client.queue != .full else { return false }
        guard let stream = cell.stream?.id else { return true }
        return codec.waiting(on: stream) <= Self.highWater
    }

    // MARK: queues

    /// Reports how many bytes are queued for the client.
    /// - Parameter highWater: the number of bytes above which the queue is full.
    public mutating func queuedForClient(_ count: Int, highWater: Int = Self.highWater, now: Int, _ out: inout Outbox) {
        client.holds(count, highWater: highWater)
        guard client.isDone else { return }
        out.now = now
        if intake.proceeding == .putOff { return proceed(now: now, &out) }
        finishTunnel(&out)
    }

    /// Reports how many bytes are queued for an exchange's origin.
    public mutating func queuedForOrigin(
        _ count: Int, of id: ExchangeID, highWater: Int = Self.highWater, now: Int, _ out: inout Outbox
    ) {
        guard let cell = exchanges[id] else { return }
        cell.origin.holds(count, highWater: highWater)
        guard cell.origin.isDone else { return }
        out.now = now
        cell.grant(codec, &out)
        guard cell.stream?.tunnel != nil else { return finishTunnel(&out) }
        guard !cell.exchange.isOver else { return }
        cell.finishTunnel(&out)
        settle(cell, &out)
    }

    /// The exchange has no origin any more, so nothing is queued for it.
    public mutating func released(_ id: ExchangeID) { exchanges[id]?.origin = Endpoint() }

    /// Queued bytes above which the queue's sender is not read until the queue is empty.
    public static var highWater: Int { Endpoint.highWater }

    /// Writing to the origin failed. Its earlier bytes are still read; further bytes of the client are dropped.
    public mutating func originLost(_ id: ExchangeID, now: Int, _ out: inout Outbox) {
        guard let cell = exchanges[id] else { return }
        out.now = now
        cell.origin.lose()
        cell.grant(codec, &out)
        if isTunnel, carries(id) { endTunnelWhereUnheard(cell, &out) }
        guard cell.stream?.tunnel != nil else { return }
        guard !cell.exchange.isOver else { return }
        cell.finishTunnel(&out)
        settle(cell, &out)
    }

    // MARK: tunnels

    public var isTunnel: Bool { if case .tunnel = stage { true } else { false } }

    /// Whether the connection is the exchange's tunnel, or its CONNECT is being answered.
    func carries(_ id: ExchangeID) -> Bool {
        switch stage {
        case .tunnel(let own): own == id
        case .connect: exchanges.current?.exchange.id == id
        case .preface, .awaitingHello, .securing, .serving, .lingering, .closed: false
        }
    }

    /// Whether the bytes of the exchange's origin are those of the tunnel.
    func hears(_ id: ExchangeID) -> Bool { (isTunnel || tunnel.isPeeking) && carries(id) }

    /// The client sends no more through the tunnel.
    mutating func clientEndedTunnel(_ id: ExchangeID, _ out: inout Outbox) {
        out.orders.append(.finishOrigin(id))
        finishTunnel(&out)
    }

    /// The origin sends no more through the tunnel.
    /// - Parameter cleanly: false when the connection broke: the bytes may be truncated and must not look complete.
    mutating func originEndedTunnel(_ id: ExchangeID, cleanly: Bool, _ out: inout Outbox) {
        guard let cell = exchanges[id] else { return }
        cell.origin.end()
        guard cleanly else { return close(reset: true, &out) }
        out.orders.append(.finishClient)
        endTunnelWhereUnheard(cell, &out)
    }

    /// Ends the tunnel when the origin cannot receive the client's bytes any more.
    private mutating func endTunnelWhereUnheard(_ cell: ExchangeCell, _ out: inout Outbox) {
        if cell.origin.hasEnded, cell.origin.isLost, !context.hasEnded { context.endedAt = out.now }
        finishTunnel(&out)
    }

    /// Ends the tunnel when both sides have ended. Queued bytes still go out.
    private mutating func finishTunnel(_ out: inout Outbox) {
        guard case .tunnel(let id) = stage, let cell = exchanges[id] else { return }
        guard context.hasEnded, cell.origin.hasEnded, client.isDone, cell.origin.isDone else { return }
        close(reset: false, &out)
    }
}
