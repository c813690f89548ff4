/// What is known of a tunnel that nobody opens.
enum UnopenedContent {
    /// TLS whose ClientHello was read, and whom it names.
    case named(String)
    /// Whatever the client has said, it names nobody.
    case unread
}

/// Tunnels that stay unopened where AM is asked: an enforced host may be reached through one that bears another name.
extension ClientConnection {
    /// Why the tunnel may not pass unopened.
    func refusal(of tunnel: Tunnel, _ content: UnopenedContent) -> ProxyError? {
        guard engine.isEnforcing else { return nil }
        let (host, port) = (tunnel.target.host, tunnel.target.port)
        if engine.enforces(nil, host, port: port) { return .undecided(host) }
        switch content {
        case .named(let name): return engine.enforces(nil, name, port: port) ? .undecided(name) : nil
        case .unread:
            // in what a server begins itself, no requests follow; a ClientHello that did not come whole has none
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
