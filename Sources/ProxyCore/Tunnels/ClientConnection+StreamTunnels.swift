import HTTPCodec
import Interception

/// Tunnels in streams: what the client has switched to there (RFC 8441), or asked for by CONNECT. They end one by one; the
/// connection goes on.
extension ClientConnection {
    /// From here on nobody looks at what is on the stream. What the client said already goes first.
    mutating func openTunnel(of cell: ExchangeCell, _ out: inout Outbox) {
        let limit = out.now + engine.settings.timeouts.tunnelIdle
        cell.stream.change { $0.tunnel = StreamTunnel(kind: .switched, deadline: limit) }
        guard let begun = cell.stream else { return }
        cell.stream.change { $0.pending = [] }
        if !begun.pending.isEmpty { passOn(begun.pending.span, of: cell, &out) }
        if begun.end != nil { endClientsSide(of: cell, &out) }
    }

    /// The client's bytes.
    mutating func passOn(_ bytes: Span<UInt8>, of cell: ExchangeCell, _ out: inout Outbox) {
        keepTunnel(of: cell, out.now)
        guard !bytes.isEmpty else { return }
        out.sendRaw(bytes, of: cell.exchange.id)
        // the end that may come right behind must not find that nothing waits
        cell.origin.isSent()
        cell.exchange.log.record.requestBytes += UInt64(bytes.count)
        cell.stream.change { $0.owed += bytes.count }
        pay(cell, &out)
    }

    /// The origin's.
    mutating func tunnelCame(_ bytes: Span<UInt8>, for cell: ExchangeCell, _ out: inout Outbox) {
        guard let stream = cell.stream?.id, !bytes.isEmpty else { return }
        keepTunnel(of: cell, out.now)
        guard codec.write(bytes, on: stream, &out) else { return }
        cell.exchange.log.record.responseBytes += UInt64(bytes.count)
    }

    /// Something moved.
    func keepTunnel(of cell: ExchangeCell, _ now: Int) {
        // the connection in there has times of its own, until it is heard of no more
        guard cell.stream?.tunnel?.isCarried == false || cell.origin.hasEnded else { return }
        let limit = now + engine.settings.timeouts.tunnelIdle
        cell.stream.change { stream in stream.tunnel.change { $0.deadline = limit } }
    }

    /// The client sends nothing more on the stream.
    mutating func endClientsSide(of cell: ExchangeCell, _ out: inout Outbox) {
        cell.stream.change { stream in stream.tunnel.change { $0.clientHasEnded = true } }
        out.orders.append(.finishOrigin(cell.exchange.id))
        finishTunnel(of: cell, &out)
    }

    /// The origin sends nothing more.
    /// - Parameter cleanly: false where what it sent may have been cut short.
    mutating func endOriginsSide(of cell: ExchangeCell, cleanly: Bool, _ out: inout Outbox) {
        guard let stream = cell.stream else { return }
        cell.origin.end()
        // what ends without an answer has been cut off
        guard cleanly, stream.tunnel?.awaitsAnswer != true else {
            cell.exchange.cut(reset: true, &out)
            return settle(cell, &out)
        }
        codec.end(trailers: [], on: stream.id, &out)
        keepTunnel(of: cell, out.now)
        finishTunnel(of: cell, &out)
    }

    /// It is over when both sides have ended, or nobody is left to hear the client.
    mutating func finishTunnel(of cell: ExchangeCell, _ out: inout Outbox) {
        guard let tunnel = cell.stream?.tunnel, cell.origin.hasEnded, !cell.exchange.isOver,
            tunnel.clientHasEnded && cell.origin.isDone || cell.origin.isLost
        else { return }
        cell.exchange.release(reusable: false, &out)
        cell.exchange.complete(out.now)
        settle(cell, &out)
    }
}
