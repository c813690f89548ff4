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
        phase = .connecting
        // the tunnel's inside is not known yet; plain HTTP is what the pool would have to fit
        var target = Origin(scheme: .http, host: request.host, port: request.target.port)
        target.route = engine.settings.routes.proxy(for: target.host).map { .tunnel($0) }
        noteRoute(target)
        origin.begin(.attempt, target)
        deadline = now + engine.settings.timeouts.connect
        out.orders.append(.lease(target, fresh: true))
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
        phase = .peeking
        origin.state = .awaitingHead
        record.status = 200
        responseStarted = true
        deadline = now + engine.settings.timeouts.tunnelIdle
        out.client.append(literal: "HTTP/1.1 200 Connection Established\r\n\r\n")
        drainClientPending(&out)
    }

    /// Looks at the first bytes inside the tunnel. False while they do not tell yet.
    mutating func peek(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        switch TunnelProtocol.recognise(bytes) {
        case .undecided: return false
        case .other:
            openTunnel(&out)
        case .http:
            // from here on the requests inside are exchanges of their own, and recorded as such
            tunnelTarget = origin.origin
            releaseOrigin(reusable: true, &out)
            responseStarted = false
            headBegan = false
            phase = .awaitingRequest
        }
        return true
    }

    mutating func openTunnel(_ out: inout Outbox) {
        phase = .tunnel
        deadline = now + engine.settings.timeouts.tunnelIdle
        out.orders.append(.tunnel)
    }

    /// The origin speaks first: no HTTP is in there.
    mutating func tunnelBytes(_ bytes: Span<UInt8>, _ out: inout Outbox) {
        if phase == .peeking {
            openTunnel(&out)
            out.origin.append(contentsOf: clientPending)
            clientPending = []
        }
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
    case http, other, undecided

    private static let methods: [StaticString] = [
        "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH ", "TRACE ",
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
            if length == method.utf8CodeUnitCount { return .http }
            mayBecome = true
        }
        return mayBecome ? .undecided : .other
    }
}
