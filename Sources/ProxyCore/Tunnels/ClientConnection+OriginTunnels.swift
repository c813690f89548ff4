import HTTPCodec

/// Tunnels over an HTTP/2 stream of the origin (RFC 8441), in either version at the client.
extension ClientConnection {
    /// Handles an event on the origin's stream of a tunnel.
    mutating func tunnelCame(_ event: ResponseEvent, _ bytes: Span<UInt8>, for cell: ExchangeCell, _ out: inout Outbox)
    {
        switch event {
        case .data(let range):
            let piece = bytes.extracting(range)
            if cell.stream?.tunnel != nil {
                return cell.deliver(piece, codec, idle: engine.settings.timeouts.tunnelIdle, &out)
            }
            wait(until: out.now + engine.settings.timeouts.tunnelIdle)
            tunnelBytes(piece, &out)
        case .end: endOrigin(of: cell, cleanly: true, &out)
        case .needsMore, .interim, .head, .switched: break
        }
    }

    /// The origin sends no more.
    /// - Parameter cleanly: false when its bytes may be truncated, and it receives no more either.
    mutating func endOrigin(of cell: ExchangeCell, cleanly: Bool, _ out: inout Outbox) {
        if cell.stream?.tunnel != nil {
            guard !cell.exchange.isOver else { return }
            cell.endOriginSide(cleanly: cleanly, &codec, idle: engine.settings.timeouts.tunnelIdle, &out)
            return settle(cell, &out)
        }
        originEndedTunnel(cell.exchange.id, cleanly: cleanly, &out)
    }
}
