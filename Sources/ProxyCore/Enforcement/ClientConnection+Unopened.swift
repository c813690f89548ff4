/// The server name of a tunnel that is not decrypted.
enum UnopenedContent {
    /// The name in a ClientHello.
    case named(String)
    /// The client's bytes hold no name.
    case unread
}

/// Checks tunnels that are not decrypted: one to another name may lead to a host that needs AM's decisions.
extension ClientConnection {
    /// The error if the tunnel may not pass; nil if it may.
    func refusal(of tunnel: Tunnel, _ content: UnopenedContent) -> ProxyError? {
        guard engine.isEnforcing else { return nil }
        let (host, port) = (tunnel.target.host, tunnel.target.port)
        if engine.enforces(nil, host, port: port) { return .undecided(host) }
        switch content {
        case .named(let name): return engine.enforces(nil, name, port: port) ? .undecided(name) : nil
        case .unread:
            // no requests follow where the server speaks first; an incomplete ClientHello counts as unread
            let mayBeTLS = intake.pending.first.map(Tunnel.resemblesTLS) ?? false
            return engine.enforces(port: port) && (mayBeTLS || !tunnel.isGreeted) ? .unread(port) : nil
        }
    }

    /// The client's first bytes are neither a request nor a ClientHello.
    /// - Returns: false while the origin may still show that it speaks first.
    mutating func peekUnknown(_ bytes: Span<UInt8>, _ tunnel: Tunnel, _ out: inout Outbox) -> Bool {
        let (host, port) = (tunnel.target.host, tunnel.target.port)
        let isSuspect = engine.enforces(port: port) && !engine.enforces(nil, host, port: port)
        if isSuspect, bytes.count > 0, Tunnel.resemblesTLS(bytes[0]) {
            refuseHello(
                "the client's TLS begins with no ClientHello that can be read, and requests at port \(port) may need "
                    + "a decision of AM (enforce: am)", &out)
            return true
        }
        guard isSuspect, !tunnel.isGreeted else {
            openTunnel(tunnel, .unread, &out)
            return true
        }
        guard !tunnel.isUnknown else { return false }
        var tunnel = tunnel
        tunnel.isUnknown = true
        switch tunnel.lease {
        case .none: enter(.peeking(ordered(tunnel, &out)))
        case .leasing: enter(.peeking(tunnel))
        case .standing: enter(.peeking(tunnel), until: out.now + Self.peekTimeout)
        }
        return false
    }
}
