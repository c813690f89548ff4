import Formats
import HTTPCodec
import Interception
public import TLSEngine

/// The client's TLS: decides whether to decrypt a tunnel, with which certificate, and handles the handshake's outcome.
extension ClientConnection {
    /// Alerts that refuse a ClientHello (RFC 8446 §5.1, §6.2): fatal decode_error.
    private static let decodeError: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x32]
    /// The same alert for internal_error.
    private static let internalError: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50]

    var interception: InterceptionPolicy { engine.settings.interception }

    /// On a TLS listener, the first bytes go to the TLS engine.
    /// - Returns: false while too few bytes are here.
    mutating func peekHello(_ bytes: Span<UInt8>, begun: Bool, _ out: inout Outbox) -> Bool {
        switch TunnelProtocol.recognise(bytes) {
        case .undecided: return false
        case .http, .http2, .connect:
            // respond in clear text, because the client did not begin TLS
            let cell = recorded(&out)
            enter(.serving)
            cell.exchange.answer(
                .badRequest(400, "this port of the proxy speaks TLS: write https:// before it in the proxy's URL"),
                isLast: true, &out)
            settle(cell, &out)
        case .other:
            switch ClientHello.peek(bytes) {
            case .needsMore:
                // a client that begins a handshake must finish it in time
                if !begun { enter(.awaitingHello(begun: true), until: out.now + engine.settings.timeouts.tls) }
                return false
            case .hello(let hello): secure(nil, showing: .listener(hello.serverName), bytes, &out)
            case .notTLS: refuseHello("the client speaks neither TLS nor HTTP to a listener that speaks TLS", &out)
            case .malformed(let words): refuseHello("the client's ClientHello breaks TLS: \(words)", &out)
            case .tooLarge: refuseHello(Self.tooLarge, &out)
            }
        }
        return true
    }

    // MARK: inside a tunnel

    /// Handles first bytes of a tunnel that are no HTTP. False while they do not show the protocol yet.
    mutating func peekSecure(_ bytes: Span<UInt8>, _ tunnel: Tunnel, _ out: inout Outbox) -> Bool {
        // where AM must allow requests, the name in the ClientHello shows whether it must be asked
        guard !interception.isEmpty || engine.isEnforcing else {
            openTunnel(tunnel, .unread, &out)
            return true
        }
        let isWanted = interception.opens(tunnel.target.host, port: tunnel.target.port)
        let isRead = isWanted || engine.isEnforcing
        switch ClientHello.peek(bytes) {
        case .needsMore:
            if isWanted { beginHello(tunnel, out.now) }
            return false
        case .notTLS: return peekUnknown(bytes, tunnel, &out)
        case .malformed(let words) where isRead: refuseHello("the client's ClientHello breaks TLS: \(words)", &out)
        case .tooLarge where isRead: refuseHello(Self.tooLarge, &out)
        case .malformed, .tooLarge: openTunnel(tunnel, .unread, &out)
        case .hello(let hello): decide(hello, tunnel, bytes, &out)
        }
        return true
    }

    private static let tooLarge = "the client's ClientHello is larger than \(ClientHello.maxBytes) bytes"

    /// Starts the timeout of a handshake that the client has begun.
    private mutating func beginHello(_ tunnel: Tunnel, _ now: Int) {
        guard !tunnel.hasHello else { return }
        var tunnel = tunnel
        tunnel.hasHello = true
        enter(.peeking(tunnel), until: now + engine.settings.timeouts.tls)
    }

    /// Evaluates the configuration again with the name that the client sent in its ClientHello.
    private mutating func decide(
        _ hello: ClientHello, _ tunnel: Tunnel, _ bytes: Span<UInt8>, _ out: inout Outbox
    ) {
        let target = tunnel.target
        let name = hello.serverName ?? target.host
        let isOther = name != target.host
        if isOther { current?.exchange.log.tell(.renamed(name, tunnel: "\(target)"), out.now) }
        guard interception.opens(name, port: target.port) else { return openTunnel(tunnel, .named(name), &out) }
        let spoken = engine.settings.http2.clientProtocols.map { Array($0.rawValue.utf8) }
        if !hello.protocols.isEmpty, !spoken.contains(where: hello.protocols.contains) {
            let offered = hello.protocols.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
            current?.exchange.log.tell(.leftUnopened(.protocols(offered)), out.now)
            return openTunnel(tunnel, .named(name), &out)
        }
        if interception.onRefusal == .tunnel, context.isLeftAlone(name, tunnel) {
            current?.exchange.log.tell(.leftUnopened(.refusals(name)), out.now)
            return openTunnel(tunnel, .named(name), &out)
        }
        var opened = tunnel
        opened.target.serverName = isOther ? name : nil
        opened.handshake = context.stores.refusals.map {
            HandshakeMark($0, ServerPlace(name, port: target.port), context.key)
        }
        // a pooled connection without TLS may start TLS later, if the origin has sent nothing
        giveBack(tunnel, reusable: tunnel.heard.isEmpty, &out)
        secure(opened, showing: .host(name), bytes, &out)
    }

    private mutating func secure(
        _ tunnel: Tunnel?, showing name: ShownName, _ hello: Span<UInt8>, _ out: inout Outbox
    ) {
        enter(.securing(tunnel), until: out.now + engine.settings.timeouts.tls)
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
        guard case .securing(let tunnel) = stage else { return }
        serveInside(now)
        if negotiated.spoken == .http2 { codec.startHTTP2(engine, out.windows) }
        guard let tunnel, let cell = current else { return }
        if let handshake = tunnel.handshake { handshake.isDone = true }
        context.handshake = tunnel.handshake
        let name = tunnel.target.serverName ?? tunnel.target.host
        context.stores.refusals?.accepted(ServerPlace(name, port: tunnel.target.port), by: context.key)
        cell.exchange.log.tell(.opened(name: name, negotiated: "\(negotiated)"), now)
        // the tunnel has its own record, and each request in it is an exchange of its own
        cell.exchange.complete(now)
        out.orders.append(.record(cell.exchange.id))
        context.tunnel = tunnel.target.secured
    }

    /// The client's handshake failed.
    /// - Parameter hasSeen: the client had received the certificate.
    public mutating func clientUnsecured(_ fault: TLSFault, hasSeen: Bool, now: Int, _ out: inout Outbox) {
        out.now = now
        guard case .securing(let tunnel) = stage else { return }
        let failure = context.handshakeFailed(fault, hasSeen: hasSeen, tunnel, interception.onRefusal)
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
        cell.exchange.enter(.tunnelling)
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
