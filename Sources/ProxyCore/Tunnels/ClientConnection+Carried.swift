import HTTP1
import HTTPCodec
import Interception

/// CONNECT in a stream (RFC 9113 §8.5). A child connection of the same client gets the request in HTTP/1 form and treats it like
/// any other: it authenticates, connects, peeks and decrypts TLS. Its response and all later bytes are relayed here
/// unchanged.
extension ClientConnection {
    /// Orders the child connection for the stream and gives it the request.
    mutating func carry(_ cell: ExchangeCell, _ out: inout Outbox) {
        cell.exchange.enter(.tunnelling, until: .max)
        cell.stream.change { $0.tunnel = StreamTunnel(kind: .carried(isAnswered: false), deadline: .max) }
        var forwarding = Forwarding(framing: .none)
        forwarding.isOwn = true
        out.orders.append(.carry(cell.exchange.id))
        out.send(OutgoingHead(head: cell.exchange.request, forwarding: forwarding), of: cell.exchange.id)
    }

    /// The child connection for a stream. It counts against its client's share like any other.
    public func carried(now: Int) throws(ClientShares.Refusal) -> ClientConnection {
        ClientConnection(
            engine: engine, stores: context.stores, client: context.name, source: context.source.inStream,
            share: try context.share?.another(engine.settings.limits), now: now)
    }

    /// The client's share has no room for a connection in the stream.
    public mutating func notCarried(
        _ refusal: ClientShares.Refusal, _ id: ExchangeID, now: Int, _ out: inout Outbox
    ) {
        out.now = now
        guard let cell = cell(id), !cell.exchange.isOver else { return }
        cell.stream.change { $0.tunnel = nil }
        startRecord(of: cell, &out)
        cell.exchange.noteHead()
        if (try? cell.exchange.request.settleHost(scheme: .https)) != nil {
            engine.redaction.appendURL(of: cell.exchange.request, to: &cell.exchange.log.record.url)
        }
        cell.exchange.answer(ProxyError(refusal), &out)
        settle(cell, &out)
    }

    /// Reads the child connection's response to CONNECT.
    mutating func readCarried(
        _ bytes: Span<UInt8>, _ position: inout Int, through origin: inout HTTP1Client, for cell: ExchangeCell,
        _ out: inout Outbox
    ) {
        guard let stream = cell.stream?.id else { return }
        while cell.stream?.tunnel?.awaitsAnswer == true, !cell.exchange.isOver {
            let event: ResponseEvent
            do throws(HTTPFault) {
                event = try origin.read(
                    bytes, &position, limits: engine.headLimits, maxTrailerBytes: engine.settings.limits.header)
            } catch {
                cell.exchange.cut(reset: true, &out)
                return settle(cell, &out)
            }
            var manner = ResponseManner()
            manner.isOwn = true
            switch event {
            case .needsMore: return
            case .interim: codec.interim(origin.head, via: [], on: stream, &out)
            case .switched:
                codec.respond(origin.head, .none, manner, on: stream, &out)
                cell.stream.change { stream in stream.tunnel.change { $0.kind = .carried(isAnswered: true) } }
            case .head(let framing): codec.respond(origin.head, framing, manner, on: stream, &out)
            case .data(let range): _ = codec.write(bytes.extracting(range), on: stream, &out)
            case .end:
                codec.end(trailers: origin.trailers, on: stream, &out)
                cell.exchange.release(reusable: false, &out)
                cell.exchange.complete(out.now)
                settle(cell, &out)
            }
        }
    }

    /// Orders the record of an exchange that is over. The child connection records a tunnel in a stream.
    mutating func orderRecord(of cell: ExchangeCell, _ out: inout Outbox) {
        guard cell.stream?.tunnel?.isCarried == true, let index = cells.firstIndex(where: { $0 === cell }) else {
            return out.orders.append(.record(cell.exchange.id))
        }
        cells.remove(at: index)
        out.giveBack(cell)
    }
}
