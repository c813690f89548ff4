import Formats
import HTTPCodec
import Interception

/// A client's connection that multiplexes exchanges (HTTP/2).
extension HTTPConnection {
    /// Ends an exchange; the connection goes on.
    mutating func finish(
        _ cell: ExchangeCell, on stream: ClientStream, isWhole: Bool, _ out: inout CommandBuffer
    ) {
        codec.flush(&out)
        // unused bytes still count against the connection's flow-control window
        let ungranted = stream.owed + stream.pending.count
        if ungranted > 0 { codec.used(ungranted, of: stream.id, &out) }
        cell.stream.change {
            $0.owed = 0
            $0.pending = []
        }
        remains.add(stream, isWhole: isWhole, codec, &out)
        context.share?.letGo(of: cell.exchange.id)
        context.share?.end(exchanges.openStreams)
        exchanges.orderRecord(of: cell, &out)
        remains.moved(now: out.now)
        becomeIdle(&out)
    }

    /// Notes the responses that waited for the client's windows and have now gone out.
    mutating func noteTaken(_ out: inout CommandBuffer) {
        remains.moved(now: out.now)
        if remains.noteTaken(codec) { becomeIdle(&out) }
    }

    private mutating func becomeIdle(_ out: inout CommandBuffer) {
        waitIdle(out.now)
        if next?.isKept == false, !isBusy { endStreams(&out) }
    }

    /// Writes frames that the codec has kept back to combine them. Call it before sending the command buffer's bytes.
    public func flush(_ out: inout CommandBuffer) { codec.flush(&out) }

    /// Sends GOAWAY with the last stream on HTTP/2: the client may send requests after that one again.
    public func sayGoodbye(_ out: inout CommandBuffer) { codec.sayGoodbye(&out) }

    /// Accepts no further streams; the connection ends with the open ones.
    /// - Parameter engine: the generation of the configuration that is in force then.
    mutating func leaveStreams(_ engine: Engine, _ out: inout CommandBuffer) {
        sayGoodbye(&out)
        guard isBusy else { return endStreams(&out) }
        next = NextGeneration(engine: engine, isKept: false)
    }

    // MARK: CONNECT in streams (RFC 9113 §8.5)

    /// The child connection for a stream. It counts against its client's share like any other.
    public func carried(now: Int) throws(ClientShares.Refusal) -> ClientConnection {
        ClientConnection(
            engine: engine, stores: context.stores, client: context.name, source: context.source.inStream,
            share: try context.share?.another(engine.settings.limits), now: now)
    }

    /// The client's share has no room for a connection in the stream.
    mutating func notCarried(_ refusal: ClientShares.Refusal, _ cell: ExchangeCell, _ out: inout CommandBuffer) {
        cell.stream.change { $0.tunnel = nil }
        exchanges.startRecord(of: cell, context, &out)
        cell.exchange.info.logHead()
        if (try? cell.exchange.request.settleHost(scheme: .https)) != nil {
            engine.redaction.appendURL(of: cell.exchange.request, to: &cell.exchange.log.record.url)
        }
        cell.exchange.answer(ProxyError(refusal), &out)
    }
}
