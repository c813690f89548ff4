import HTTPCodec

/// Tunnels that are streams at their origins (RFC 8441), whatever they are at their clients.
extension ClientConnection {
    /// Something came on the origin's stream of a tunnel.
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

    /// The origin sends nothing more.
    /// - Parameter cleanly: false where what it sent may have been cut short, and it hears nothing either.
    mutating func endOrigin(of cell: ExchangeCell, cleanly: Bool, _ out: inout Outbox) {
        if cell.stream?.tunnel != nil {
            guard !cell.exchange.isOver else { return }
            cell.endOriginSide(cleanly: cleanly, &codec, idle: engine.settings.timeouts.tunnelIdle, &out)
            return settle(cell, &out)
        }
        originEndedTunnel(cell.exchange.id, cleanly: cleanly, &out)
    }
}
