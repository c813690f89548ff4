import HTTPCodec
import Interception

/// Back-pressure and half-closes: who is read, and when what passes through is over.
extension ClientConnection {
    // MARK: who is read

    /// The client's bytes are wanted now.
    public var readsClient: Bool {
        if context.hasEnded || intake.isPaused { return false }
        // a client that has so much to take gets no further answers
        if client.queue == .full, codec.isMultiplexed || awaitsRequest { return false }
        // streams have windows of their own
        if codec.isMultiplexed { return true }
        for cell in cells where cell.origin.queue == .full { return false }
        return true
    }

    /// So much waits for the client that nothing more of any origin is wanted.
    public var isClientFull: Bool { client.queue == .full }

    /// What the origin says to an exchange is wanted now.
    public func readsOrigin(of id: ExchangeID) -> Bool {
        guard let cell = cell(id), !cell.origin.hasEnded, !cell.exchange.isPacedFull else { return false }
        // what nobody here waits for does not wait for the client either
        if cell.exchange.isOrphan { return true }
        guard client.queue != .full else { return false }
        guard let stream = cell.stream?.id else { return true }
        return codec.waiting(on: stream) <= Self.highWater
    }

    // MARK: queues

    /// So many bytes wait for the client.
    /// - Parameter highWater: how many are too many.
    public mutating func queuedForClient(_ count: Int, highWater: Int = Self.highWater, now: Int, _ out: inout Outbox) {
        client.holds(count, highWater: highWater)
        guard client.isDone else { return }
        out.now = now
        if intake.proceeding == .putOff { return proceed(now: now, &out) }
        finishTunnel(&out)
    }

    /// So many bytes wait for an exchange's origin.
    public mutating func queuedForOrigin(
        _ count: Int, of id: ExchangeID, highWater: Int = Self.highWater, now: Int, _ out: inout Outbox
    ) {
        guard let cell = cell(id) else { return }
        cell.origin.holds(count, highWater: highWater)
        guard cell.origin.isDone else { return }
        out.now = now
        cell.grant(codec, &out)
        guard cell.stream?.tunnel != nil else { return finishTunnel(&out) }
        guard !cell.exchange.isOver else { return }
        cell.finishTunnel(&out)
        settle(cell, &out)
    }

    /// The exchange has no origin any more: nothing waits for it.
    public mutating func released(_ id: ExchangeID) { cell(id)?.origin = Endpoint() }

    /// Queued bytes above which whoever fills the queue is not read until it is empty.
    public static var highWater: Int { Endpoint.highWater }

    /// Writing to the origin failed. What it said before is still read; what the client sends goes nowhere.
    public mutating func originLost(_ id: ExchangeID, now: Int, _ out: inout Outbox) {
        guard let cell = cell(id) else { return }
        out.now = now
        cell.origin.lose()
        cell.grant(codec, &out)
        if case .tunnel = stage { endTunnelWhereUnheard(cell, &out) }
        guard cell.stream?.tunnel != nil else { return }
        guard !cell.exchange.isOver else { return }
        cell.finishTunnel(&out)
        settle(cell, &out)
    }

    // MARK: tunnels

    public var isTunnel: Bool { if case .tunnel = stage { true } else { false } }

    /// The client sends nothing more through the tunnel.
    mutating func clientEndedTunnel(_ id: ExchangeID, _ out: inout Outbox) {
        out.orders.append(.finishOrigin(id))
        finishTunnel(&out)
    }

    /// The origin sends nothing more through the tunnel.
    /// - Parameter cleanly: false where it broke: what came may have been cut short, and must not look whole.
    mutating func originEndedTunnel(_ id: ExchangeID, cleanly: Bool, _ out: inout Outbox) {
        guard let cell = cell(id) else { return }
        cell.origin.end()
        guard cleanly else { return close(reset: true, &out) }
        out.orders.append(.finishClient)
        endTunnelWhereUnheard(cell, &out)
    }

    /// Where nobody is left to hear the client, it need not be heard.
    private mutating func endTunnelWhereUnheard(_ cell: ExchangeCell, _ out: inout Outbox) {
        if cell.origin.hasEnded, cell.origin.isLost, !context.hasEnded { context.endedAt = out.now }
        finishTunnel(&out)
    }

    /// The tunnel is over when both sides have ended. What is queued for either still goes out.
    private mutating func finishTunnel(_ out: inout Outbox) {
        guard case .tunnel(let id) = stage, let cell = cell(id) else { return }
        guard context.hasEnded, cell.origin.hasEnded, client.isDone, cell.origin.isDone else { return }
        close(reset: false, &out)
    }
}
