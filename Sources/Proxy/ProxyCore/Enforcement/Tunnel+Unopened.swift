/// What is known of a tunnel that is not decrypted.
enum UnopenedContent {
    /// The name in a ClientHello.
    case named(String)
    /// The client's bytes hold no name; with the first of them, if they wait.
    case unread(first: UInt8?)
}

/// Checks tunnels that are not decrypted: one to another name may lead to a host that needs AM's decisions.
extension Tunnel {
    /// The error if the tunnel may not pass; nil if it may.
    func refusal(of content: UnopenedContent, _ engine: Engine) -> ProxyError? {
        guard engine.isEnforcing else { return nil }
        let (host, port) = (target.host, target.port)
        if engine.enforces(nil, host, port: port) { return .undecided(host) }
        switch content {
        case .named(let name): return engine.enforces(nil, name, port: port) ? .undecided(name) : nil
        case .unread(let first):
            // no requests follow where the server speaks first; an incomplete ClientHello counts as unread
            let mayBeTLS = first.map(TunnelProtocol.mayBeTLS) ?? false
            return engine.enforces(port: port) && (mayBeTLS || !greeting.isForeign) ? .unread(port) : nil
        }
    }

    /// The client's first bytes are neither a request nor a ClientHello.
    /// - Returns: `wait` while the origin may still show that it speaks first.
    mutating func peekUnknown(_ bytes: Span<UInt8>, for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        let engine = cell.exchange.engine
        let (host, port) = (target.host, target.port)
        let isSuspect = engine.enforces(port: port) && !engine.enforces(nil, host, port: port)
        if isSuspect, bytes.count > 0, TunnelProtocol.mayBeTLS(bytes[0]) {
            return .refuseHello(
                "the client's TLS begins with no ClientHello that can be read, and requests at port \(port) may need "
                    + "a decision of AM (enforce: am)")
        }
        guard isSuspect, !greeting.isForeign else { return open(.unread(first: nil), for: cell, &out) }
        return awaitGreeting(for: cell, &out)
    }
}
