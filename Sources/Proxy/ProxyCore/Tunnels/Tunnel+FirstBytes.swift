import Interception
import TLSEngine

/// Decides by the client's first bytes what a tunnel carries, and whether to decrypt it.
extension Tunnel {
    static let tooLarge = "the client's ClientHello is larger than \(ClientHello.maxBytes) bytes"

    /// Recognizes the protocol from the client's first bytes.
    /// - Returns: `wait` while they do not show it yet.
    mutating func peek(
        _ bytes: Span<UInt8>, for cell: ExchangeCell, _ context: ClientContext, _ out: inout CommandBuffer
    ) -> Action {
        switch TunnelProtocol.recognise(bytes) {
        case .undecided: .wait
        case .other, .connect: peekSecure(bytes, for: cell, context, &out)
        case .http2 where !cell.exchange.engine.settings.http2.clients: open(.unread(first: nil), for: cell, &out)
        // from here on the requests inside are exchanges with records of their own
        case .http: serve(speaksHTTP2: false, for: cell, &out)
        case .http2: serve(speaksHTTP2: true, for: cell, &out)
        }
    }

    /// Handles first bytes that are no HTTP.
    private mutating func peekSecure(
        _ bytes: Span<UInt8>, for cell: ExchangeCell, _ context: ClientContext, _ out: inout CommandBuffer
    ) -> Action {
        let engine = cell.exchange.engine
        // where AM must allow requests, the name in the ClientHello shows whether it must be asked
        guard !engine.settings.interception.isEmpty || engine.isEnforcing else {
            return open(.unread(first: nil), for: cell, &out)
        }
        let isWanted = engine.settings.interception.opens(target.host, port: target.port)
        let isRead = isWanted || engine.isEnforcing
        switch ClientHello.peek(bytes) {
        case .needsMore:
            if isWanted { beginHello(until: out.now + engine.settings.timeouts.tls) }
            return .wait
        case .notTLS: return peekUnknown(bytes, for: cell, &out)
        case .malformed(let words) where isRead: return .refuseHello("the client's ClientHello breaks TLS: \(words)")
        case .tooLarge where isRead: return .refuseHello(Self.tooLarge)
        case .malformed, .tooLarge: return open(.unread(first: nil), for: cell, &out)
        case .hello(let hello): return decide(hello, bytes, for: cell, context, &out)
        }
    }

    /// Evaluates the configuration again with the name that the client sent in its ClientHello.
    private mutating func decide(
        _ hello: ClientHello, _ bytes: Span<UInt8>, for cell: ExchangeCell, _ context: ClientContext,
        _ out: inout CommandBuffer
    ) -> Action {
        let engine = cell.exchange.engine
        let name = hello.serverName ?? target.host
        if name != target.host { cell.exchange.log.tell(.renamed(name, tunnel: "\(target)"), out.now) }
        guard engine.settings.interception.opens(name, port: target.port) else {
            return open(.named(name), for: cell, &out)
        }
        let spoken = engine.settings.http2.clientProtocols.map { Array($0.rawValue.utf8) }
        if !hello.protocols.isEmpty, !spoken.contains(where: hello.protocols.contains) {
            let offered = hello.protocols.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
            cell.exchange.log.tell(.leftUnopened(.protocols(offered)), out.now)
            return open(.named(name), for: cell, &out)
        }
        let place = ServerPlace(name, port: target.port)
        if engine.settings.interception.onRefusal == .tunnel, context.isLeftAlone(place) {
            cell.exchange.log.tell(.leftUnopened(.refusals(name)), out.now)
            return open(.named(name), for: cell, &out)
        }
        let mark = context.stores.refusals.map { HandshakeMark($0, place, context.key) }
        return secure(name, bytes, mark, for: cell, &out)
    }
}
