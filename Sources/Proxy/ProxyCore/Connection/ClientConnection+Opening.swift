import Formats
import HTTPCodec
import Interception
public import TLSEngine

/// What comes before HTTP: a balancer's PROXY protocol header, and the client's TLS on a TLS listener or in a tunnel.
extension ClientConnection {
    // MARK: the PROXY protocol

    /// Reads the header. Nil while it is incomplete, or when it was refused.
    mutating func preface(_ bytes: Span<UInt8>, _ out: inout CommandBuffer) -> Int? {
        switch http.context.readPreface(bytes, http.engine.settings.limits) {
        case .incomplete: break
        case .refused(let reason): fail(.failed(token: "http_request_denied", details: reason), &out)
        case .tooMany:
            let error = ProxyError.tooManyOfClient("this address")
            // a client that speaks TLS would not understand an HTTP response
            if http.context.source.isSecure {
                fail(.failed(token: "http_request_denied", details: error.details), &out)
            } else {
                answer(error, in: http.exchanges.recorded(http.engine, http.context, &out), &out)
            }
        case .read(let count):
            stage.enter(
                http.context.source.isSecure ? .awaitingHello(begun: false) : .serving,
                until: out.now + http.engine.settings.timeouts.idle)
            http.waitIdle(out.now)
            return count
        }
        return nil
    }

    // MARK: the ClientHello

    /// Alerts that refuse a ClientHello (RFC 8446 §5.1, §6.2): fatal decode_error.
    private static let decodeError: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x32]
    /// The same alert for internal_error.
    private static let internalError: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50]

    /// On a TLS listener, the first bytes go to the TLS engine.
    /// - Returns: false while too few bytes are here.
    mutating func peekHello(_ bytes: Span<UInt8>, begun: Bool, _ out: inout CommandBuffer) -> Bool {
        switch ListenerHello(bytes) {
        case .incomplete(let hasBegun):
            // a client that begins a handshake must finish it in time
            if hasBegun, !begun {
                stage.enter(.awaitingHello(begun: true), until: out.now + http.engine.settings.timeouts.tls)
            }
            return false
        case .clearText:
            // respond in clear text, because the client did not begin TLS
            answer(
                .badRequest(400, "this port of the proxy speaks TLS: write https:// before it in the proxy's URL"),
                in: http.exchanges.recorded(http.engine, http.context, &out), &out)
        case .whole(let name):
            stage.enter(.securing, until: out.now + http.engine.settings.timeouts.tls)
            var hello: [UInt8] = []
            hello.append(bytes)
            out.commands.append(.secureClient(showing: .listener(name), hello: hello))
        case .refused(let words): refuseHello(words, &out)
        }
        return true
    }

    mutating func refuseHello(_ words: String, _ out: inout CommandBuffer) {
        out.client.append(contentsOf: Self.decodeError)
        fail(.failed(token: "tls_protocol_error", details: words), &out)
    }

    // MARK: the handshake's outcome

    /// The client's handshake is done: its further bytes come decrypted.
    public mutating func clientSecured(_ negotiated: TLSStream.Negotiated, now: Int, _ out: inout CommandBuffer) {
        out.now = now
        guard case .securing = stage.state else { return }
        serveInside(now)
        if negotiated.spoken == .http2 { http.codec.startHTTP2(http.engine, out.windows) }
        guard tunnel.isUnderWay, let cell = http.exchanges.current else { return }
        let target = tunnel.target
        http.context.handshake = tunnel.secured()
        let name = target.serverName ?? target.host
        http.context.stores.refusals?.accepted(ServerPlace(name, port: target.port), by: http.context.key)
        cell.exchange.log.tell(.opened(name: name, negotiated: "\(negotiated)"), now)
        // the tunnel has its own record, and each request in it is an exchange of its own
        cell.exchange.info.end(.complete, now)
        out.commands.append(.record(cell.exchange.id))
        http.context.tunnel = target.secured
    }

    /// The client's handshake failed.
    /// - Parameter hasSeen: the client had received the certificate.
    public mutating func clientUnsecured(_ fault: TLSFault, hasSeen: Bool, now: Int, _ out: inout CommandBuffer) {
        out.now = now
        guard case .securing = stage.state else { return }
        let failure = http.context.handshakeFailed(
            fault, hasSeen: hasSeen, tunnel.isUnderWay ? tunnel.target : nil,
            http.engine.settings.interception.onRefusal)
        if fault.kind == .local, !hasSeen { out.client.append(contentsOf: Self.internalError) }
        fail(failure, &out)
    }
}

extension LogEvent {
    static let lateHandshake = failed(
        token: "connection_timeout", details: "the client did not finish its TLS handshake within timeouts.tls")
    static let latePreface = failed(
        token: "http_request_denied",
        details: "the header of the PROXY protocol did not arrive within timeouts.header after the balancer connected")
}
