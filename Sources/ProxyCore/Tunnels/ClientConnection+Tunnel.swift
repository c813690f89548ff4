import Formats
import HTTP1
import HTTPCodec
import Interception

/// CONNECT: relays a tunnel unread, unless it carries plain HTTP or its TLS is decrypted.
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
        let tunnel = Tunnel(target: target)
        guard interception.opens(target.host, port: target.port) else { return dial(tunnel, &out) }
        // no connection is needed when an interceptor responds in the origin's place
        if engine.mayStandIn(target.host, port: target.port) { return accept(tunnel, &out) }
        enter(.connecting(ordered(tunnel, by: .reach(cell.exchange.id, target), &out)))
    }

    /// Orders the tunnel's connection; the client waits for it.
    private mutating func dial(_ tunnel: Tunnel, _ out: inout Outbox) {
        enter(.connecting(ordered(tunnel, &out)))
    }

    /// - Parameter order: the order for the connection; nil when the tunnel needs one of its own.
    mutating func ordered(_ tunnel: Tunnel, by order: Order? = nil, _ out: inout Outbox) -> Tunnel {
        guard let cell = current else { return tunnel }
        var tunnel = tunnel
        if tunnel.target.route != nil { cell.exchange.log.tell(.routed(by: tunnel.target.peer), out.now) }
        tunnel.lease = .leasing(.connecting)
        tunnel.heard = []
        wait(until: out.now + engine.settings.timeouts.connect)
        out.orders.append(order ?? .lease(cell.exchange.id, tunnel.target, .new, .http1))
        return tunnel
    }

    /// Responds to the client's CONNECT. The client's next bytes decide the tunnel's protocol.
    private mutating func accept(_ tunnel: Tunnel, _ out: inout Outbox) {
        var tunnel = tunnel
        tunnel.isAnswered = true
        tunnel.awaitsClientUntil = out.now + Self.peekTimeout
        current?.exchange.log.tell(.delivered(status: 200), out.now)
        // in some protocols the origin speaks first: without a connection to it, wait only briefly for the client
        var timeout = engine.settings.timeouts.tunnelIdle
        if case .none = tunnel.lease { timeout = Self.peekTimeout }
        enter(.peeking(tunnel), until: out.now + timeout)
        out.client.append(literal: Self.established)
        let hasEnded = context.hasEnded
        // the client's last bytes come before its end
        context.endedAt = nil
        drainPending(&out)
        if hasEnded { clientEnded(now: out.now, &out) }
    }

    /// How long to wait for a client whose TLS would be decrypted before connecting to its origin, in milliseconds.
    static let peekTimeout = 1_000

    /// The client has sent nothing in its tunnel, or too little.
    mutating func peekTimedOut(_ tunnel: Tunnel, _ out: inout Outbox) {
        if tunnel.hasHello { return clientHandshakeTimedOut(&out) }
        switch tunnel.lease {
        case .none: enter(.peeking(ordered(tunnel, &out)))
        case .leasing: tunnelFailed(.timedOut, tunnel, &out)
        case .standing where tunnel.heard.isEmpty && !tunnel.isUnknown: close(reset: false, &out)
        case .standing: openTunnel(tunnel, .unread, &out)
        }
    }

    // MARK: the origin's connection

    var isTunnelLeasing: Bool {
        switch stage {
        case .connecting, .peeking: true
        case .preface, .awaitingHello, .securing, .serving, .tunnel, .lingering, .closed: false
        }
    }

    mutating func tunnelReached(_ step: LeaseStep, _ tunnel: Tunnel, _ now: Int) {
        guard case .leasing = tunnel.lease else { return }
        var tunnel = tunnel
        tunnel.lease = .leasing(step)
        wait(until: now + engine.settings.timeouts.of(step))
        if case .connecting = stage { enter(.connecting(tunnel)) } else { enter(.peeking(tunnel)) }
    }

    mutating func tunnelConnected(_ id: ExchangeID, _ out: inout Outbox) {
        switch stage {
        case .connecting(var tunnel):
            tunnel.lease = .standing
            if !tunnel.isAnswered { return accept(tunnel, &out) }
            // the tunnel's protocol was decided before it was connected
            openTunnel(id, &out)
        case .peeking(var tunnel):
            tunnel.lease = .standing
            enter(.peeking(tunnel))
            if tunnel.isUnknown { return wait(until: out.now + Self.peekTimeout) }
            if !tunnel.hasHello { wait(until: out.now + engine.settings.timeouts.tunnelIdle) }
        default: break
        }
    }

    private func opens(_ tunnel: Tunnel) -> Bool {
        interception.opens(tunnel.target.host, port: tunnel.target.port)
    }

    /// The origin closed its connection before the client said anything. If TLS is decrypted, requests get another connection;
    /// the client then has as long to begin as without one.
    /// - Returns: false when this was done before, or nothing is decrypted.
    mutating func doWithoutOrigin(_ tunnel: Tunnel, _ out: inout Outbox) -> Bool {
        guard !tunnel.hasLost, !tunnel.isUnknown, opens(tunnel) else { return false }
        giveBack(tunnel, reusable: false, &out)
        var tunnel = tunnel
        (tunnel.lease, tunnel.heard, tunnel.hasLost) = (.none, [], true)
        enter(.peeking(tunnel), until: tunnel.hasHello ? deadline : out.now + Self.peekTimeout)
        return true
    }

    /// The destination is reachable, without a connection of the tunnel's own.
    public mutating func reached(_ id: ExchangeID, now: Int, _ out: inout Outbox) {
        out.now = now
        guard case .connecting(var tunnel) = stage, !tunnel.isAnswered, current?.exchange.id == id else { return }
        tunnel.lease = .none
        accept(tunnel, &out)
    }

    /// The driver could not connect the tunnel.
    mutating func tunnelFailed(_ failure: LeaseFailure, _ tunnel: Tunnel, _ out: inout Outbox) {
        guard let cell = current else { return close(reset: true, &out) }
        var step = LeaseStep.connecting
        if case .leasing(let reached) = tunnel.lease { step = reached }
        let error = ProxyError(failure, at: step, tunnel.target)
        out.orders.append(.release(cell.exchange.id, reusable: false))
        if tunnel.isAnswered {
            cell.exchange.log.tell(.failed(token: error.token, details: error.details), out.now)
            return close(reset: true, &out)
        }
        enter(.serving)
        // bytes that the client sent for the tunnel must not be read as a request
        cell.exchange.answer(error, isLast: true, &out)
        settle(cell, &out)
    }

    /// Connects the tunnel again under new rules, because nothing has passed through it yet.
    mutating func connectAnew(_ out: inout Outbox) {
        guard let cell = current else { return }
        switch stage {
        case .connecting(let tunnel):
            if case .none = tunnel.lease { return }
            out.orders.append(.release(cell.exchange.id, reusable: false))
            dial(tunnel, &out)
        case .peeking(let tunnel):
            if case .none = tunnel.lease { return }
            out.orders.append(.release(cell.exchange.id, reusable: false))
            let limit = deadline
            enter(.peeking(ordered(tunnel, &out)))
            // a handshake that has begun keeps its timeout
            if tunnel.hasHello { wait(until: limit) }
        case .preface, .awaitingHello, .securing, .serving, .tunnel, .lingering, .closed: break
        }
    }

    // MARK: the tunnel's protocol

    /// Recognizes the protocol from the first bytes in the tunnel. False while they do not show it yet.
    mutating func peek(_ bytes: Span<UInt8>, _ tunnel: Tunnel, _ out: inout Outbox) -> Bool {
        switch TunnelProtocol.recognise(bytes) {
        case .undecided: return false
        case .other, .connect: return peekSecure(bytes, tunnel, &out)
        case .http2 where !engine.settings.http2.clients: openTunnel(tunnel, .unread, &out)
        case .http, .http2:
            // from here on the requests inside are exchanges with records of their own
            var target = tunnel.target
            if case .http2 = TunnelProtocol.recognise(bytes) { target.isSaidToSpeakHTTP2 = true }
            // an HTTP/2 cleartext origin must not get HTTP/1 requests, so do not reuse the connection
            giveBack(tunnel, reusable: !engine.settings.http2.speaksCleartext(to: target), &out)
            forgetConnect(&out)
            context.tunnel = target
            serveInside(out.now)
            if target.isSaidToSpeakHTTP2 { codec.startHTTP2(engine, out.windows) }
        }
        return true
    }

    /// Reads the next bytes as requests inside the tunnel.
    mutating func serveInside(_ now: Int) {
        codec.next()
        enter(.serving, until: now + engine.settings.timeouts.idle)
    }

    /// Gives back the tunnel's connection, whether it stands or is being made.
    mutating func giveBack(_ tunnel: Tunnel, reusable: Bool, _ out: inout Outbox) {
        guard let cell = current else { return }
        switch tunnel.lease {
        case .none: break
        case .leasing: out.orders.append(.release(cell.exchange.id, reusable: false))
        case .standing: out.orders.append(.release(cell.exchange.id, reusable: reusable))
        }
    }

    /// Removes the CONNECT exchange without a record.
    mutating func forgetConnect(_ out: inout Outbox) {
        guard let cell = current, let index = cells.firstIndex(where: { $0 === cell }) else { return }
        cells.remove(at: index)
        out.giveBack(cell)
    }

    /// Relays the tunnel unread from here on.
    mutating func openTunnel(_ tunnel: Tunnel, _ content: UnopenedContent, _ out: inout Outbox) {
        guard let cell = current else { return close(reset: true, &out) }
        if let error = refusal(of: tunnel, content) {
            giveBack(tunnel, reusable: false, &out)
            cell.exchange.log.tell(.failed(token: error.token, details: error.details), out.now)
            return close(reset: true, &out)
        }
        switch tunnel.lease {
        case .standing: openTunnel(cell.exchange.id, heard: tunnel.heard, &out)
        case .leasing: enter(.connecting(tunnel))
        case .none: dial(tunnel, &out)
        }
    }

    /// Relays the tunnel, beginning with the bytes already received.
    /// - Parameter heard: bytes received from the origin.
    mutating func openTunnel(_ id: ExchangeID, heard: [UInt8] = [], _ out: inout Outbox) {
        if cell(id)?.exchange.attempt.lease.isStream != true {
            relays[.client] = .max
            relays[.origin] = .max
        }
        enter(.tunnel(id), until: out.now + engine.settings.timeouts.tunnelIdle)
        out.sendRaw(intake.pending.span, of: id)
        cell(id)?.exchange.log.record.requestBytes += UInt64(intake.pending.count)
        intake.pending = []
        intake.isPaused = false
        passOn(heard.span, of: id, &out)
        // the client may have ended before its request became a tunnel
        if context.hasEnded { clientEndedTunnel(id, &out) }
    }

    /// Handles bytes of an origin that speaks first: this is no HTTP, except for HTTP/2 without TLS.
    mutating func tunnelBytes(_ bytes: Span<UInt8>, _ out: inout Outbox) {
        if case .peeking(var tunnel) = stage {
            let mayBeHTTP2 = tunnel.hears(bytes) && !tunnel.hasHello && engine.settings.http2.clients
            let awaitsClient =
                tunnel.hasRoom && !tunnel.isUnknown && out.now < tunnel.awaitsClientUntil && opens(tunnel)
            guard mayBeHTTP2 || awaitsClient else { return openTunnel(tunnel, .unread, &out) }
            // a client that speaks HTTP/2 or decrypted TLS has begun already, or begins now
            enter(.peeking(tunnel), until: tunnel.hasHello ? deadline : min(deadline, out.now + Self.peekTimeout))
        } else if case .tunnel(let id) = stage {
            passOn(bytes, of: id, &out)
        }
    }

    private mutating func passOn(_ bytes: Span<UInt8>, of id: ExchangeID, _ out: inout Outbox) {
        cell(id)?.exchange.log.record.responseBytes += UInt64(bytes.count)
        out.client.append(bytes)
    }
}

enum TunnelProtocol {
    /// `connect`: the one method that is forbidden in a tunnel.
    case http, http2, connect, other, undecided

    private static let methods: [StaticString] = [
        "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH ", "TRACE ", "CONNECT ",
    ]

    /// Plain HTTP/1 begins with a method and a space, HTTP/2 with its preface; TLS and everything else do not.
    static func recognise(_ bytes: Span<UInt8>) -> TunnelProtocol {
        var mayBecome = false
        for method in methods {
            let length = min(bytes.count, method.utf8CodeUnitCount)
            var same = true
            for index in 0..<length where bytes[index] != method.utf8Start[index] {
                same = false
                break
            }
            guard same else { continue }
            if length == method.utf8CodeUnitCount { return method.utf8Start[0] == 0x43 ? .connect : .http }
            mayBecome = true
        }
        switch HTTP2Preface(bytes) {
        case .present: return .http2
        case .undecided: return .undecided
        case .absent: return mayBecome ? .undecided : .other
        }
    }
}
