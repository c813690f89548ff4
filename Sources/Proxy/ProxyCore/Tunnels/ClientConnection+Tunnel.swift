import Formats
import HTTPCodec
import Interception

/// CONNECT: tells the tunnel what happens and carries out what it decides; relays what is not decrypted.
extension ClientConnection {
    /// Begins a tunnel for an admitted CONNECT.
    mutating func beginTunnel(of cell: ExchangeCell, _ out: inout CommandBuffer) {
        // the tunnel's protocol is not known yet; the pool must look for plain HTTP
        var target = Origin(scheme: .http, host: cell.exchange.request.host, port: cell.exchange.request.target.port)
        guard mayBegin(target) else {
            cell.exchange.log.tell(.noLongerPermitted, out.now)
            return close(reset: false, &out)
        }
        target.route = http.engine.tunnelRoute(to: target.host)
        stage.enter(.connect)
        perform(tunnel.begin(to: target, for: cell, &out), for: cell, &out)
    }

    mutating func tellTunnel(_ event: Tunnel.Event, _ out: inout CommandBuffer) {
        guard let cell = http.exchanges.current else { return close(reset: true, &out) }
        perform(tunnel.take(event, first: http.intake.pending.first, for: cell, &out), for: cell, &out)
    }

    /// Gives the tunnel the client's first bytes.
    /// - Returns: false while they do not show the protocol, or may not pass.
    mutating func peek(_ bytes: Span<UInt8>, _ out: inout CommandBuffer) -> Bool {
        guard tunnel.isPeeking, let cell = http.exchanges.current else { return false }
        let action = tunnel.peek(bytes, for: cell, http.context, &out)
        perform(action, for: cell, &out)
        if case .wait = action { return false }
        return true
    }

    private mutating func perform(_ action: Tunnel.Action, for cell: ExchangeCell, _ out: inout CommandBuffer) {
        switch action {
        case .wait: stage.wait(until: tunnel.deadline)
        case .answer:
            stage.wait(until: tunnel.deadline)
            http.codec.connected(&out)
            let hasEnded = http.context.hasEnded
            // the client's last bytes come before its end
            http.context.endedAt = nil
            drainPending(&out)
            if hasEnded { clientEnded(now: out.now, &out) }
        // bytes that the client sent for the tunnel must not be read as a request
        case .refuse(let error): answer(error, in: cell, &out)
        case .serve(let target):
            http.exchanges.forget(cell, &out)
            http.context.tunnel = target
            serveInside(out.now)
            if target.isSaidToSpeakHTTP2 { http.codec.startHTTP2(http.engine, out.windows) }
        case .secure: stage.enter(.securing, until: tunnel.deadline)
        case .relay(let heard): openTunnel(cell.exchange.id, heard: heard, &out)
        case .refuseHello(let words): refuseHello(words, &out)
        case .giveUpHello: fail(.lateHandshake, &out)
        case .close(let reset): close(reset: reset, &out)
        }
    }

    /// Reads the next bytes as requests inside the tunnel.
    mutating func serveInside(_ now: Int) {
        http.codec.next()
        stage.enter(.serving)
        http.waitIdle(now)
    }

    // MARK: whose tunnel

    /// Whether the exchange's CONNECT is being answered.
    func isConnecting(_ id: ExchangeID) -> Bool {
        if case .connect = stage.state { http.exchanges.current?.exchange.id == id } else { false }
    }

    /// Whether the bytes of the exchange's origin are those of the tunnel.
    func hears(_ id: ExchangeID) -> Bool {
        if case .tunnel(let own) = stage.state { own == id } else { tunnel.isPeeking && isConnecting(id) }
    }

    // MARK: relayed unread

    /// Relays the tunnel, beginning with the bytes already received.
    /// - Parameter heard: bytes received from the origin.
    mutating func openTunnel(_ id: ExchangeID, heard: [UInt8] = [], _ out: inout CommandBuffer) {
        if http.exchanges[id]?.exchange.attempt.lease.isStream != true {
            http.relays.begin(.client, .max, of: id)
            http.relays.begin(.origin, .max, of: id)
        }
        stage.enter(.tunnel(id), until: out.now + http.engine.settings.timeouts.tunnelIdle)
        pass(http.intake.pending.span, of: id, &out)
        http.intake.discard()
        http.intake.resume()
        tunnelBytes(heard.span, &out)
        // the client may have ended before its request became a tunnel
        if http.context.hasEnded { endClientSide(id, &out) }
    }

    /// Handles bytes of the tunnel's origin.
    mutating func tunnelBytes(_ bytes: Span<UInt8>, _ out: inout CommandBuffer) {
        if case .tunnel(let id) = stage.state {
            http.exchanges[id]?.exchange.log.record.responseBytes += UInt64(bytes.count)
            out.client.append(bytes)
        } else if let cell = http.exchanges.current {
            perform(tunnel.heard(bytes, first: http.intake.pending.first, for: cell, &out), for: cell, &out)
        }
    }

    /// The client sends no more through the tunnel.
    mutating func endClientSide(_ id: ExchangeID, _ out: inout CommandBuffer) {
        out.commands.append(.finishOrigin(id))
        finishTunnel(&out)
    }

    /// The origin sends no more through the tunnel.
    /// - Parameter cleanly: false when the connection broke: the bytes may be truncated and must not look complete.
    mutating func endOriginSide(_ id: ExchangeID, cleanly: Bool, _ out: inout CommandBuffer) {
        http.exchanges[id]?.origin.end()
        guard cleanly else { return close(reset: true, &out) }
        out.commands.append(.finishClient)
        finishTunnel(&out)
    }

    /// Ends the tunnel when both sides have ended, or the origin cannot receive any more. Queued bytes still go out.
    mutating func finishTunnel(_ out: inout CommandBuffer) {
        guard case .tunnel(let id) = stage.state, let cell = http.exchanges[id] else { return }
        if cell.origin.hasEnded, cell.origin.isLost, !http.context.hasEnded { http.context.endedAt = out.now }
        guard http.context.hasEnded, cell.origin.hasEnded, http.client.isDone, cell.origin.isDone else { return }
        close(reset: false, &out)
    }
}
