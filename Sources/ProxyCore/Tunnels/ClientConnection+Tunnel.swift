import Formats
import HTTP1
import HTTPCodec
import Interception

/// CONNECT: tells the tunnel what happens and carries out what it decides; relays what is not decrypted.
extension ClientConnection {
    /// Begins a tunnel for an admitted CONNECT.
    mutating func beginTunnel(of cell: ExchangeCell, _ out: inout Outbox) {
        // the tunnel's protocol is not known yet; the pool must look for plain HTTP
        var target = Origin(scheme: .http, host: cell.exchange.request.host, port: cell.exchange.request.target.port)
        guard mayBegin(target) else {
            cell.exchange.log.tell(.noLongerPermitted, out.now)
            return close(reset: false, &out)
        }
        target.route = engine.tunnelRoute(to: target.host)
        enter(.connect)
        perform(tunnel.begin(to: target, for: cell, &out), for: cell, &out)
    }

    mutating func tellTunnel(_ event: Tunnel.Event, _ out: inout Outbox) {
        guard let cell = exchanges.current else { return close(reset: true, &out) }
        perform(tunnel.take(event, first: intake.pending.first, for: cell, &out), for: cell, &out)
    }

    /// Gives the tunnel the client's first bytes.
    /// - Returns: false while they do not show the protocol, or may not pass.
    mutating func peek(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        guard tunnel.isPeeking, let cell = exchanges.current else { return false }
        let action = tunnel.peek(bytes, for: cell, context, &out)
        perform(action, for: cell, &out)
        if case .wait = action { return false }
        return true
    }

    private mutating func perform(_ action: Tunnel.Action, for cell: ExchangeCell, _ out: inout Outbox) {
        switch action {
        case .wait: wait(until: tunnel.deadline)
        case .answer:
            wait(until: tunnel.deadline)
            codec.connected(&out)
            let hasEnded = context.hasEnded
            // the client's last bytes come before its end
            context.endedAt = nil
            drainPending(&out)
            if hasEnded { clientEnded(now: out.now, &out) }
        case .refuse(let error):
            enter(.serving)
            // bytes that the client sent for the tunnel must not be read as a request
            cell.exchange.answer(error, isLast: true, &out)
            settle(cell, &out)
        case .serve(let target):
            exchanges.forget(cell, &out)
            context.tunnel = target
            serveInside(out.now)
            if target.isSaidToSpeakHTTP2 { codec.startHTTP2(engine, out.windows) }
        case .secure: enter(.securing, until: tunnel.deadline)
        case .relay(let heard): openTunnel(cell.exchange.id, heard: heard, &out)
        case .refuseHello(let words): refuseHello(words, &out)
        case .giveUpHello: clientHandshakeTimedOut(&out)
        case .close(let reset): close(reset: reset, &out)
        }
    }

    /// The destination is reachable, without a connection of the tunnel's own.
    public mutating func reached(_ id: ExchangeID, now: Int, _ out: inout Outbox) {
        out.now = now
        if case .connect = stage, exchanges.current?.exchange.id == id { tellTunnel(.reachable, &out) }
    }

    /// Reads the next bytes as requests inside the tunnel.
    mutating func serveInside(_ now: Int) {
        codec.next()
        enter(.serving, until: now + engine.settings.timeouts.idle)
    }

    // MARK: relayed unread

    /// Relays the tunnel, beginning with the bytes already received.
    /// - Parameter heard: bytes received from the origin.
    mutating func openTunnel(_ id: ExchangeID, heard: [UInt8] = [], _ out: inout Outbox) {
        if exchanges[id]?.exchange.attempt.lease.isStream != true {
            relays.begin(.client, .max, of: id)
            relays.begin(.origin, .max, of: id)
        }
        enter(.tunnel(id), until: out.now + engine.settings.timeouts.tunnelIdle)
        out.sendRaw(intake.pending.span, of: id)
        exchanges[id]?.exchange.log.record.requestBytes += UInt64(intake.pending.count)
        intake.discard()
        intake.resume()
        passOn(heard.span, of: id, &out)
        // the client may have ended before its request became a tunnel
        if context.hasEnded { clientEndedTunnel(id, &out) }
    }

    /// Handles bytes of an origin that no response is read from.
    mutating func tunnelBytes(_ bytes: Span<UInt8>, _ out: inout Outbox) {
        if case .tunnel(let id) = stage {
            passOn(bytes, of: id, &out)
        } else if tunnel.isPeeking {
            guard let cell = exchanges.current else { return close(reset: true, &out) }
            perform(tunnel.heard(bytes, first: intake.pending.first, for: cell, &out), for: cell, &out)
        }
    }

    private mutating func passOn(_ bytes: Span<UInt8>, of id: ExchangeID, _ out: inout Outbox) {
        exchanges[id]?.exchange.log.record.responseBytes += UInt64(bytes.count)
        out.client.append(bytes)
    }
}
