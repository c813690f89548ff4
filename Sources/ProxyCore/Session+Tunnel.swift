import HTTPCodec
import Interception

/// CONNECT: a tunnel that is relayed unopened, unless plain HTTP is spoken in it.
extension Session {
    mutating func beginConnect(_ out: inout Outbox) {
        bodyState = .complete
        if let ports = engine.settings.connectPorts, !ports.contains(request.target.port) {
            return refusePort(ports, &out)
        }
        record.attempts = 1
        // the tunnel's inside is not known yet; plain HTTP is what the pool would have to fit
        var target = Origin(scheme: .http, host: request.host, port: request.target.port)
        target.route = engine.tunnelRoute(to: target.host)
        connectTarget = target
        // whose TLS is opened is asked only for what the client wants of it
        if interception.opens(target.host, port: target.port) { return accept(&out) }
        phase = .connecting
        dialTunnel(target, &out)
    }

    private mutating func dialTunnel(_ target: Origin, _ out: inout Outbox) {
        noteRoute(target)
        origin.begin(.attempt, target)
        deadline = now + engine.settings.timeouts.connect
        out.orders.append(.lease(target, .new))
    }

    /// Answers the client's CONNECT. What it says next decides what the tunnel is.
    private mutating func accept(_ out: inout Outbox) {
        phase = .peeking
        headBegan = false
        record.status = 200
        responseStarted = true
        // a protocol in which the origin speaks first has to be given the chance
        deadline = now + (origin.state == .idle ? Self.patience : engine.settings.timeouts.tunnelIdle)
        out.client.append(literal: "HTTP/1.1 200 Connection Established\r\n\r\n")
        drainClientPending(&out)
    }

    /// How long a client whose TLS would be opened may say nothing before its origin is connected to.
    private static let patience = 1_000

    /// The client says nothing in its tunnel, or not enough.
    mutating func peekTimedOut(_ out: inout Outbox) {
        if headBegan { return clientHandshakeTimedOut(&out) }
        switch origin.state {
        case .idle: if let connectTarget { dialTunnel(connectTarget, &out) }
        case .leasing: leaseFailed(.timedOut, now: now, &out)
        case .awaitingHead, .body: abandon(reset: false, &out)
        }
    }

    private mutating func refusePort(_ ports: [UInt16], _ out: inout Outbox) {
        phase = .exchanging
        answer(
            ProxyError(
                "http_request_denied", status: 403,
                "destinations.connect_ports permits CONNECT to \(ports.map(String.init).joined(separator: ", ")) alone; "
                    + "add \(request.target.port) to it where that is meant"), &out)
    }

    mutating func tunnelConnected(_ out: inout Outbox) {
        origin.state = .awaitingHead
        if phase == .connecting, !responseStarted { return accept(&out) }
        if !headBegan { deadline = now + engine.settings.timeouts.tunnelIdle }
        // what is in the tunnel was decided before it was connected
        guard phase == .connecting else { return }
        openTunnelForRest(&out)
        resumeClient(&out)
    }

    /// What the client said already goes first.
    mutating func openTunnelForRest(_ out: inout Outbox) {
        openTunnel(&out)
        guard phase == .tunnel else { return }
        out.origin.append(contentsOf: clientPending)
        record.requestBytes += UInt64(clientPending.count)
        clientPending = []
    }

    /// Where the tunnel leads was judged by rules that are no more. Nothing has gone through it yet, so it is made again.
    mutating func connectAnew(_ out: inout Outbox) {
        guard phase == .connecting || phase == .peeking, origin.state != .idle, let connectTarget else { return }
        let limit = deadline
        releaseOrigin(reusable: false, &out)
        dialTunnel(connectTarget, &out)
        // a handshake that the client began has the time that it had
        if headBegan { deadline = limit }
    }

    /// Looks at the first bytes inside the tunnel. False while they do not tell yet.
    mutating func peek(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        switch TunnelProtocol.recognise(bytes) {
        case .undecided: return false
        case .other, .connect: return peekSecure(bytes, &out)
        case .http:
            // from here on the requests inside are exchanges of their own, and recorded as such
            tunnelTarget = connectTarget
            connectTarget = nil
            if origin.state != .idle { releaseOrigin(reusable: origin.state != .leasing, &out) }
            responseStarted = false
            headBegan = false
            phase = .awaitingRequest
        }
        return true
    }

    /// From here on nobody looks at what is in the tunnel.
    mutating func openTunnel(_ out: inout Outbox) {
        guard origin.state == .awaitingHead else {
            phase = .connecting
            if origin.state == .idle, let connectTarget { dialTunnel(connectTarget, &out) }
            return
        }
        phase = .tunnel
        deadline = now + engine.settings.timeouts.tunnelIdle
        out.orders.append(.tunnel)
    }

    /// The origin speaks first: no HTTP is in there.
    mutating func tunnelBytes(_ bytes: Span<UInt8>, _ out: inout Outbox) {
        if phase == .peeking { openTunnelForRest(&out) }
        record.responseBytes += UInt64(bytes.count)
        out.client.append(bytes)
    }

    /// Both sides of the tunnel have ended.
    public mutating func tunnelClosed(toOrigin: UInt64, toClient: UInt64, now: Int, _ out: inout Outbox) {
        self.now = now
        record.requestBytes += toOrigin
        record.responseBytes += toClient
        abandon(reset: false, &out)
    }
}

enum TunnelProtocol {
    /// `connect`: the one method that no tunnel carries.
    case http, connect, other, undecided

    private static let methods: [StaticString] = [
        "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH ", "TRACE ", "CONNECT ",
    ]

    /// Plain HTTP/1 begins with a method and a space; TLS and everything else do not.
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
        return mayBecome ? .undecided : .other
    }
}
