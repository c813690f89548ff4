import HTTP1
import HTTPCodec

/// CONNECT in a stream (RFC 9113 §8.5). A child connection of the same client gets the request in HTTP/1 form and treats it like
/// any other: it authenticates, connects, peeks and decrypts TLS. Its response and all later bytes are relayed here
/// unchanged.
extension ExchangeCell {
    /// Orders the child connection for the stream and gives it the request.
    func carry(_ out: inout CommandBuffer) {
        exchange.info.stage.enter(.tunnelling, until: .max)
        stream.change { $0.tunnel = StreamTunnel(kind: .carried(isAnswered: false), deadline: .max) }
        var forwarding = Forwarding(framing: .none)
        forwarding.isOwn = true
        out.commands.append(.carry(exchange.id))
        out.send(OutgoingHead(head: exchange.request, forwarding: forwarding), of: exchange.id)
    }

    /// Reads the child connection's response to CONNECT.
    func readCarried(
        _ bytes: Span<UInt8>, _ position: inout Int, through origin: inout HTTP1Client, _ codec: inout ServerCodec,
        _ engine: Engine, _ out: inout CommandBuffer
    ) {
        guard let id = stream?.id else { return }
        while stream?.tunnel?.awaitsAnswer == true, !exchange.isOver {
            let event: ResponseEvent
            do throws(HTTPFault) {
                event = try origin.read(
                    bytes, &position, limits: engine.headLimits, maxTrailerBytes: engine.settings.limits.header)
            } catch {
                return exchange.cut(reset: true, &out)
            }
            var manner = ResponseManner()
            manner.isOwn = true
            switch event {
            case .needsMore: return
            case .interim: codec.interim(origin.head, via: [], on: id, &out)
            case .switched:
                codec.respond(origin.head, .none, manner, on: id, &out)
                stream.change { stream in stream.tunnel.change { $0.kind = .carried(isAnswered: true) } }
            case .head(let framing): codec.respond(origin.head, framing, manner, on: id, &out)
            case .data(let range): _ = codec.write(bytes.extracting(range), on: id, &out)
            case .end:
                codec.end(trailers: origin.trailers, on: id, &out)
                exchange.info.release(reusable: false, &out)
                exchange.info.end(.complete, out.now)
            }
        }
    }
}
