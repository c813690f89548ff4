import HTTPCodec

/// Gives the exchange the body of its request. The caller of these methods settles the exchange afterwards.
extension ExchangeCell {
    func use(
        _ bytes: Span<UInt8>, _ codec: borrowing ServerCodec, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) {
        exchange.bodyMoves(out.now)
        if exchange.bodyCame(bytes, &context, &out) == .pass { out.send(bytes, of: exchange.id) }
        guard stream != nil else { return }
        stream.change { $0.owed += bytes.count }
        grant(codec, &out)
    }

    func endBody(trailers: [UInt8], _ context: inout ClientContext, _ out: inout CommandBuffer) {
        guard exchange.bodyEnded(trailers: trailers, &context, &out) == .pass else { return }
        out.commands.append(.sendEnd(exchange.id, trailers: exchange.engine.passed(trailers, exchange.sentHead)))
    }
}
