import Formats
import HTTPCodec
import Interception
public import TLSEngine

/// The client's TLS: the ClientHello on a TLS listener, and the handshake's outcome there and in a tunnel.
extension ClientConnection {
    /// Alerts that refuse a ClientHello (RFC 8446 §5.1, §6.2): fatal decode_error.
    private static let decodeError: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x32]
    /// The same alert for internal_error.
    private static let internalError: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50]

    /// On a TLS listener, the first bytes go to the TLS engine.
    /// - Returns: false while too few bytes are here.
    mutating func peekHello(_ bytes: Span<UInt8>, begun: Bool, _ out: inout Outbox) -> Bool {
        switch ListenerHello(bytes) {
        case .incomplete(let hasBegun):
            // a client that begins a handshake must finish it in time
            if hasBegun, !begun { enter(.awaitingHello(begun: true), until: out.now + engine.settings.timeouts.tls) }
            return false
        case .clearText:
            // respond in clear text, because the client did not begin TLS
            let cell = recorded(&out)
            enter(.serving)
            cell.exchange.answer(
                .badRequest(400, "this port of the proxy speaks TLS: write https:// before it in the proxy's URL"),
                isLast: true, &out)
            settle(cell, &out)
        case .whole(let name): secure(showing: .listener(name), bytes, &out)
        case .refused(let words): refuseHello(words, &out)
        }
        return true
    }

    private mutating func secure(showing name: ShownName, _ hello: Span<UInt8>, _ out: inout Outbox) {
        enter(.securing, until: out.now + engine.settings.timeouts.tls)
        var bytes: [UInt8] = []
        bytes.append(hello)
        out.orders.append(.secureClient(showing: name, hello: bytes))
    }

    mutating func refuseHello(_ words: String, _ out: inout Outbox) {
        out.client.append(contentsOf: Self.decodeError)
        handshakeFailed("tls_protocol_error", words, &out)
    }

    // MARK: the handshake's outcome

    /// The client's handshake is done: its further bytes come decrypted.
    public mutating func clientSecured(_ negotiated: TLSStream.Negotiated, now: Int, _ out: inout Outbox) {
        out.now = now
        guard case .securing = stage else { return }
        serveInside(now)
        if negotiated.spoken == .http2 { codec.startHTTP2(engine, out.windows) }
        guard tunnel.isUnderWay, let cell = exchanges.current else { return }
        let target = tunnel.target
        context.handshake = tunnel.secured()
        let name = target.serverName ?? target.host
        context.stores.refusals?.accepted(ServerPlace(name, port: target.port), by: context.key)
        cell.exchange.log.tell(.opened(name: name, negotiated: "\(negotiated)"), now)
        // the tunnel has its own record, and each request in it is an exchange of its own
        cell.exchange.end(.complete, now)
        out.orders.append(.record(cell.exchange.id))
        context.tunnel = target.secured
    }

    /// The client's handshake failed.
    /// - Parameter hasSeen: the client had received the certificate.
    public mutating func clientUnsecured(_ fault: TLSFault, hasSeen: Bool, now: Int, _ out: inout Outbox) {
        out.now = now
        guard case .securing = stage else { return }
        let failure = context.handshakeFailed(
            fault, hasSeen: hasSeen, tunnel.isUnderWay ? tunnel.target : nil, engine.settings.interception.onRefusal)
        if fault.kind == .local, !hasSeen { out.client.append(contentsOf: Self.internalError) }
        clientUnsecured(failure, &out)
    }

    mutating func clientHandshakeTimedOut(_ out: inout Outbox) {
        handshakeFailed(
            "connection_timeout", "the client did not finish its TLS handshake within timeouts.tls", &out)
    }

    private mutating func handshakeFailed(_ token: String, _ words: String, _ out: inout Outbox) {
        clientUnsecured(.failed(token: token, details: words), &out)
    }

    private mutating func clientUnsecured(_ moment: ExchangeMoment, _ out: inout Outbox) {
        let cell = recorded(&out)
        cell.exchange.log.tell(moment, out.now)
        cell.exchange.stage.enter(.tunnelling)
        close(reset: false, &out)
    }
}

/// Remembers which clients repeatedly refuse which servers' certificates. A refusal counts only for its own client.
public protocol RefusalStore: AnyObject, Sendable {
    func began(_ place: ServerPlace, by client: ClientKey)
    /// - Parameter isDone: the handshake succeeded, and there was a connection.
    func ended(_ place: ServerPlace, by client: ClientKey, isDone: Bool)
    func refused(_ place: ServerPlace, by client: ClientKey)
    func left(_ place: ServerPlace, by client: ClientKey) -> RefusalCounts.Departure
    func accepted(_ place: ServerPlace, by client: ClientKey)
    func isLeftAlone(_ place: ServerPlace, for client: ClientKey) -> Bool
}

/// A client's handshake and the connection after it. Its lifetime ends with the last reference.
final class HandshakeMark {
    private let store: any RefusalStore
    private let place: ServerPlace
    private let client: ClientKey
    /// The handshake succeeded.
    var isDone = false

    init(_ store: any RefusalStore, _ place: ServerPlace, _ client: ClientKey) {
        (self.store, self.place, self.client) = (store, place, client)
        store.began(place, by: client)
    }

    deinit { store.ended(place, by: client, isDone: isDone) }
}

extension TLSStream.Negotiated: CustomStringConvertible {
    /// `TLSv1.3, TLS_AES_256_GCM_SHA384, http/1.1, resumed`
    public var description: String {
        version + ", " + cipher + (spoken.map { ", \($0.rawValue)" } ?? "") + (isResumed ? ", resumed" : "")
    }
}
