import HTTPCodec
import Interception

/// The client's bytes: uses those that the current stage wants and keeps the rest.
extension ClientConnection {
    public mutating func received(_ bytes: Span<UInt8>, now: Int, _ out: inout CommandBuffer) {
        out.now = now
        if stage.isOver { return }
        if http.intake.isEmpty {
            let used = use(bytes, &out)
            http.intake.isMidway = false
            if used < bytes.count, !stage.isOver { http.intake.keep(bytes.extracting(used...)) }
        } else {
            http.intake.keep(bytes)
            drainPending(&out)
        }
        // a head has its own limit, and only the rest of it lets the client go on
        if http.intake.isFull, !awaitsRequest { http.intake.pause() }
    }

    /// Continues with bytes of the next request that were already here.
    public mutating func proceed(now: Int, _ out: inout CommandBuffer) {
        out.now = now
        guard !http.isClientFull else { return http.intake.proceeding = .putOff }
        http.intake.proceeding = .no
        drainPending(&out)
    }

    mutating func drainPending(_ out: inout CommandBuffer) {
        guard !http.intake.isEmpty else { return }
        let kept = http.intake.take()
        let used = use(kept.span, &out)
        http.intake.isMidway = false
        if stage.isOver { return }
        http.intake.putBack(consume kept, used: used)
        if !http.intake.isFull || awaitsRequest, http.intake.proceeding == .no { http.intake.resume() }
        guard http.context.hasEnded, case .serving = stage.state else { return }
        http.missEnd(&out)
        follow(&out)
    }

    /// Uses as many bytes as the current stage wants.
    private mutating func use(_ bytes: Span<UInt8>, _ out: inout CommandBuffer) -> Int {
        var position = 0
        // the codec may hold further events from earlier bytes
        while position < bytes.count || http.codec.isMultiplexed {
            switch stage.state {
            case .serving:
                let goesOn = http.read(bytes, &position, &out)
                follow(&out)
                guard goesOn else { return position }
            case .connect:
                guard peek(bytes.extracting(position...), &out) else { return position }
                switch stage.state {
                case .securing, .closed: return bytes.count
                default: break
                }
            case .tunnel(let id):
                stage.wait(until: out.now + http.engine.settings.timeouts.tunnelIdle)
                pass(bytes.extracting(position...), of: id, &out)
                return bytes.count
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
    func pass(_ bytes: Span<UInt8>, of id: ExchangeID, _ out: inout CommandBuffer) {
        out.sendRaw(bytes, of: id)
        http.exchanges[id]?.exchange.log.record.requestBytes += UInt64(bytes.count)
    }

    /// Counts bytes that the driver relayed from the client to the origin.
    public mutating func relayedFromClient(_ count: Int, now: Int, _ out: inout CommandBuffer) {
        out.now = now
        http.relayedFromClient(count, &out)
        if isTunnel { stage.wait(until: now + http.engine.settings.timeouts.tunnelIdle) }
    }

    /// Reports how many bytes are queued for the client.
    /// - Parameter highWater: the number of bytes above which the queue is full.
    public mutating func queuedForClient(
        _ count: Int, highWater: Int = Self.highWater, now: Int, _ out: inout CommandBuffer
    ) {
        http.client.holds(count, highWater: highWater)
        guard http.client.isDone else { return }
        out.now = now
        if http.intake.proceeding == .putOff { return proceed(now: now, &out) }
        finishTunnel(&out)
    }

    // MARK: the client's end

    /// The client sends no more.
    public mutating func clientEnded(now: Int, _ out: inout CommandBuffer) {
        out.now = now
        http.context.endedAt = now
        switch stage.state {
        case .closed, .securing: break
        case .tunnel(let id): endClientSide(id, &out)
        case .connect: tellTunnel(.clientEnded(inStream: http.context.source.isInStream), &out)
        case .preface, .awaitingHello, .lingering: close(reset: false, &out)
        case .serving:
            http.clientEnded(&out)
            follow(&out)
        }
    }

    /// All bytes for the client are sent: it now has a short time to close its side.
    public mutating func clientDrained(now: Int) {
        if case .lingering = stage.state { stage.wait(until: now + Self.lingering) }
    }

    private static let lingering = 2_000

    /// Writing to the client failed, so the client is gone.
    public mutating func clientLost(now: Int, _ out: inout CommandBuffer) {
        out.now = now
        if isClosed { return }
        http.exchanges.noteAbandoned(now)
        // a tunnel's bytes are no partial response
        close(reset: !isTunnel, &out)
    }
}
