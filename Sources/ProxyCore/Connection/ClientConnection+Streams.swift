import Formats
import HTTPCodec
import Interception

/// A client's connection that multiplexes exchanges (HTTP/2).
extension ClientConnection {
    // MARK: requests

    mutating func start(_ stream: StreamID, _ out: inout Outbox) -> ExchangeCell {
        let cell = exchanges.begin(engine, &out)
        cell.stream = ClientStream(stream)
        return cell
    }

    /// Handles the head of a request.
    mutating func begin(_ cell: ExchangeCell, _ framing: BodyFraming, _ out: inout Outbox) {
        codec.takeHead(into: &cell.exchange.request)
        // a tunnel in a stream is never nested in another tunnel
        if cell.stream != nil, cell.exchange.request.method == .connect, context.tunnel == nil {
            return cell.carry(&out)
        }
        startRecord(of: cell, &out)
        cell.exchange.info.logHead()
        if context.source.isInStream, context.tunnel == nil { cell.exchange.log.record.version = .http2 }
        if let refusal = streamRefusal(cell) {
            cell.exchange.answer(refusal, &out)
            return settle(cell, &out)
        }
        do throws(HTTPFault) {
            let framing = try codec.begin(
                cell.exchange.request, framing, maxTrailerBytes: engine.settings.limits.header)
            cell.exchange.begin(framing, &context, &out)
        } catch {
            cell.exchange.refuse(error, &out)
        }
        settle(cell, &out)
    }

    /// The reason why another stream is refused; nil when there is room.
    private func streamRefusal(_ cell: ExchangeCell) -> ProxyError? {
        guard cell.stream != nil, let share = context.share else { return nil }
        let limit = max(engine.settings.limits.perClient, engine.settings.http2.streams)
        return share.begin(exchanges.openStreams, limit) ? nil : .tooManyStreams(limit)
    }

    /// Rejects a head that breaks a rule: nothing of it may affect the response.
    mutating func refuse(_ cell: ExchangeCell, _ fault: HTTPFault, _ out: inout Outbox) {
        cell.exchange.request = RequestHead()
        startRecord(of: cell, &out)
        if cell.stream != nil { cell.exchange.log.record.version = .http2 }
        cell.exchange.refuse(fault, &out)
        settle(cell, &out)
    }

    // MARK: bodies

    mutating func bodyCame(_ bytes: Span<UInt8>, of cell: ExchangeCell, _ out: inout Outbox) {
        if cell.stream?.tunnel != nil {
            cell.forward(bytes, codec, idle: engine.settings.timeouts.tunnelIdle, &out)
        } else if cell.stream?.pending.isEmpty != false, cell.exchange.wantsBody {
            use(bytes, of: cell, &out)
        } else {
            cell.stream.change { $0.pending.append(bytes) }
        }
    }

    /// Gives an exchange its received body bytes, as many as it wants.
    mutating func pump(_ cell: ExchangeCell, _ out: inout Outbox) {
        while cell.exchange.wantsBody, let stream = cell.stream {
            if !stream.pending.isEmpty {
                cell.stream.change { $0.pending = [] }
                use(stream.pending.span, of: cell, &out)
            } else if let trailers = stream.end {
                cell.endBody(trailers: trailers, &context, &out)
                settle(cell, &out)
            } else {
                return
            }
        }
    }

    private mutating func use(_ bytes: Span<UInt8>, of cell: ExchangeCell, _ out: inout Outbox) {
        cell.use(bytes, codec, &context, &out)
        settle(cell, &out)
    }

    // MARK: the end

    /// Ends an exchange; the connection goes on.
    mutating func finish(
        _ cell: ExchangeCell, on stream: ClientStream, isWhole: Bool, _ out: inout Outbox
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
        orderRecord(of: cell, &out)
        remains.moved(now: out.now)
        wait(until: out.now + engine.settings.timeouts.idle)
        if next?.isKept == false, !isBusy { closeStreams(&out) }
    }

    /// Releases memory when nothing has moved for a while.
    mutating func restStreams(_ out: inout Outbox) {
        guard remains.takeRest(out.now), case .serving = stage, !isBusy else { return }
        codec.rest()
    }

    /// Whether an exchange is under way, or the client has yet to take a response.
    var isBusy: Bool { exchanges.isBusy || remains.areUntaken(codec) }

    /// Notes the responses that waited for the client's windows and have now gone out.
    mutating func noteTaken(_ out: inout Outbox) {
        remains.moved(now: out.now)
        guard remains.noteTaken(codec) else { return }
        wait(until: out.now + engine.settings.timeouts.idle)
        if next?.isKept == false, !isBusy { closeStreams(&out) }
    }

    /// Accepts no further streams; the connection ends with the open ones.
    /// - Returns: false when the connection is not multiplexed, does not serve HTTP, or was already leaving.
    public mutating func leave(now: Int, _ out: inout Outbox) -> Bool {
        guard codec.isMultiplexed, case .serving = stage, next?.isKept != false else { return false }
        out.now = now
        leaveStreams(engine, &out)
        return true
    }

    /// Writes frames that the codec has kept back to combine them. Call it before sending the outbox's bytes.
    public mutating func flush(_ out: inout Outbox) { codec.flush(&out) }

    /// Sends GOAWAY with the last stream on HTTP/2: the client may send requests after that one again.
    public mutating func sayGoodbye(_ out: inout Outbox) { codec.sayGoodbye(&out) }

    /// Leaves the connection when a new generation no longer admits the client.
    mutating func leaveStreams(_ engine: Engine, _ out: inout Outbox) {
        sayGoodbye(&out)
        guard isBusy else { return closeStreams(&out) }
        next = NextGeneration(engine: engine, isKept: false)
    }
}
