import Formats
import HTTPCodec
import Interception

/// A tunnel in the client's stream: what the client has switched to there (RFC 8441), or asked for by CONNECT. It ends alone; the
/// connection goes on. Whoever calls these methods settles the exchange afterwards.
extension ExchangeCell {
    /// From here on nobody looks at what is on the stream. What the client said already goes first.
    func openTunnel(_ codec: borrowing ServerCodec, idle: Int, _ out: inout Outbox) {
        let limit = out.now + idle
        stream.change { $0.tunnel = StreamTunnel(kind: .switched, deadline: limit) }
        guard let begun = stream else { return }
        stream.change { $0.pending = [] }
        if !begun.pending.isEmpty { forward(begun.pending.span, codec, idle: idle, &out) }
        if begun.end != nil { endClientSide(&out) }
    }

    /// Forwards the client's bytes.
    func forward(_ bytes: Span<UInt8>, _ codec: borrowing ServerCodec, idle: Int, _ out: inout Outbox) {
        keepTunnel(until: out.now + idle)
        guard !bytes.isEmpty else { return }
        out.sendRaw(bytes, of: exchange.id)
        // the end that may come right behind must not find that nothing waits
        origin.isSent()
        exchange.log.record.requestBytes += UInt64(bytes.count)
        stream.change { $0.owed += bytes.count }
        grant(codec, &out)
    }

    /// Forwards the origin's bytes.
    func deliver(_ bytes: Span<UInt8>, _ codec: borrowing ServerCodec, idle: Int, _ out: inout Outbox) {
        guard let id = stream?.id, !bytes.isEmpty else { return }
        keepTunnel(until: out.now + idle)
        guard codec.write(bytes, on: id, &out) else { return }
        exchange.log.record.responseBytes += UInt64(bytes.count)
    }

    /// Something moved.
    func keepTunnel(until limit: Int) {
        // the connection in there has times of its own, until it is heard of no more
        guard stream?.tunnel?.isCarried == false || origin.hasEnded else { return }
        stream.change { stream in stream.tunnel.change { $0.deadline = limit } }
    }

    /// The client sends nothing more on the stream.
    func endClientSide(_ out: inout Outbox) {
        stream.change { stream in stream.tunnel.change { $0.clientHasEnded = true } }
        out.orders.append(.finishOrigin(exchange.id))
        finishTunnel(&out)
    }

    /// The origin sends nothing more.
    /// - Parameter cleanly: false where what it sent may have been cut short.
    func endOriginSide(cleanly: Bool, _ codec: inout ServerCodec, idle: Int, _ out: inout Outbox) {
        guard let stream else { return }
        origin.end()
        // what ends without an answer has been cut off
        guard cleanly, stream.tunnel?.awaitsAnswer != true else { return exchange.cut(reset: true, &out) }
        codec.end(trailers: [], on: stream.id, &out)
        keepTunnel(until: out.now + idle)
        finishTunnel(&out)
    }

    /// It is over when both sides have ended, or nobody is left to hear the client.
    func finishTunnel(_ out: inout Outbox) {
        guard let tunnel = stream?.tunnel, origin.hasEnded, !exchange.isOver,
            tunnel.clientHasEnded && origin.isDone || origin.isLost
        else { return }
        exchange.release(reusable: false, &out)
        exchange.complete(out.now)
    }

    /// Lets the client send as much as has been used, unless its origin has enough to take.
    func grant(_ codec: borrowing ServerCodec, _ out: inout Outbox) {
        guard let owed = stream?.owed, owed > 0, origin.queue != .full, let id = stream?.id else { return }
        codec.used(owed, of: id, &out)
        stream.change { $0.owed = 0 }
    }
}
