import HTTPCodec
import Interception

/// The child connections of CONNECT in streams (RFC 9113 §8.5), which `ExchangeCell` gives their requests.
extension ClientConnection {
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
        guard let cell = exchanges[id], !cell.exchange.isOver else { return }
        cell.stream.change { $0.tunnel = nil }
        startRecord(of: cell, &out)
        cell.exchange.info.logHead()
        if (try? cell.exchange.request.settleHost(scheme: .https)) != nil {
            engine.redaction.appendURL(of: cell.exchange.request, to: &cell.exchange.log.record.url)
        }
        cell.exchange.answer(ProxyError(refusal), &out)
        settle(cell, &out)
    }

    /// Orders the record of an exchange that is over. The child connection records a tunnel in a stream.
    mutating func orderRecord(of cell: ExchangeCell, _ out: inout Outbox) {
        guard cell.stream?.tunnel?.isCarried == true else {
            return out.orders.append(.record(cell.exchange.id))
        }
        exchanges.forget(cell, &out)
    }
}
