import Interception

/// A tunnel in a client's stream, after an extended CONNECT (RFC 8441) or a CONNECT. It ends alone; the
/// connection goes on. The caller of these methods settles the exchange afterwards.
extension ExchangeCell {
    /// Relays the stream unread from here on, beginning with the client's bytes already received.
    func openTunnel(_ codec: borrowing ServerCodec, idle: Int, _ out: inout CommandBuffer) {
        let limit = out.now + idle
        stream.change { $0.tunnel = StreamTunnel(kind: .switched, deadline: limit) }
        guard let begun = stream else { return }
        stream.change { $0.pending = [] }
        if !begun.pending.isEmpty { forward(begun.pending.span, codec, idle: idle, &out) }
        if begun.end != nil { endClientSide(&out) }
    }

    /// Forwards the client's bytes.
    func forward(_ bytes: Span<UInt8>, _ codec: borrowing ServerCodec, idle: Int, _ out: inout CommandBuffer) {
        keepTunnel(until: out.now + idle)
        guard !bytes.isEmpty else { return }
        out.sendRaw(bytes, of: exchange.id)
        // count the bytes as queued at once, so that an end right behind them waits for them
        origin.isSent()
        exchange.log.record.requestBytes += UInt64(bytes.count)
        stream.change { $0.owed += bytes.count }
        grant(codec, &out)
    }

    /// Forwards the origin's bytes.
    func deliver(_ bytes: Span<UInt8>, _ codec: borrowing ServerCodec, idle: Int, _ out: inout CommandBuffer) {
        guard let id = stream?.id, !bytes.isEmpty else { return }
        keepTunnel(until: out.now + idle)
        guard codec.write(bytes, on: id, &out) else { return }
        exchange.log.record.responseBytes += UInt64(bytes.count)
    }

    /// Restarts the idle timeout.
    func keepTunnel(until limit: Int) {
        // a child connection has timeouts of its own until it has ended
        guard stream?.tunnel?.isCarried == false || origin.hasEnded else { return }
        stream.change { stream in stream.tunnel.change { $0.deadline = limit } }
    }

    /// The client sends no more on the stream.
    func endClientSide(_ out: inout CommandBuffer) {
        stream.change { stream in stream.tunnel.change { $0.clientHasEnded = true } }
        out.commands.append(.finishOrigin(exchange.id))
        finishTunnel(&out)
    }

    /// The origin sends no more.
    /// - Parameter cleanly: false when its bytes may be truncated.
    func endOriginSide(cleanly: Bool, _ codec: inout ServerCodec, idle: Int, _ out: inout CommandBuffer) {
        guard let stream else { return }
        origin.end()
        // a tunnel that ends without a response to CONNECT was cut off
        guard cleanly, stream.tunnel?.awaitsAnswer != true else { return exchange.cut(reset: true, &out) }
        codec.end(trailers: [], on: stream.id, &out)
        keepTunnel(until: out.now + idle)
        finishTunnel(&out)
    }

    /// Ends the tunnel when both sides have ended, or the origin cannot receive any more.
    func finishTunnel(_ out: inout CommandBuffer) {
        guard let tunnel = stream?.tunnel, origin.hasEnded, !exchange.isOver,
            tunnel.clientHasEnded && origin.isDone || origin.isLost
        else { return }
        exchange.info.release(reusable: false, &out)
        exchange.info.end(.complete, out.now)
    }

    /// Grants the client as many bytes as were used, unless the origin's queue is full.
    func grant(_ codec: borrowing ServerCodec, _ out: inout CommandBuffer) {
        guard let owed = stream?.owed, owed > 0, origin.queue != .full, let id = stream?.id else { return }
        codec.used(owed, of: id, &out)
        stream.change { $0.owed = 0 }
    }
}
