import Formats
import HTTPCodec
import Interception

/// A client's connection that carries many exchanges at a time.
extension ClientConnection {
    // MARK: requests

    mutating func serve(_ bytes: Span<UInt8>, by streams: any StreamServer, _ out: inout Outbox) {
        var position = 0
        while case .serving = stage {
            let event: StreamServerEvent
            do throws(HTTPFault) {
                event = try streams.read(
                    bytes, &position, now: out.now, limits: engine.headLimits,
                    maxTrailerBytes: engine.settings.limits.header, to: &out.client)
            } catch {
                return closeStreams(&out)
            }
            switch event {
            case .needsMore: return noteTaken(streams, &out)
            case .head(let stream, let framing): begin(stream, framing, streams, &out)
            case .broken(let stream, let fault): refuse(stream, fault, &out)
            case .data(let stream, let range): came(bytes.extracting(range), on: stream, streams, &out)
            case .end(let stream):
                guard let cell = cell(on: stream) else { continue }
                cell.stream.change { $0.end = streams.trailers }
                if cell.stream?.tunnel != nil { endClientsSide(of: cell, &out) } else { pump(cell, &out) }
            case .reset(let stream):
                guard let cell = cell(on: stream) else { continue }
                if cell.stream?.tunnel == nil { cell.exchange.log.tell(.cancelled, out.now) }
                cell.exchange.noteAbandoned(out.now)
                cell.exchange.cut(reset: true, &out)
                settle(cell, &out)
            case .violated(let stream, let fault):
                guard let cell = cell(on: stream) else { continue }
                let error = ProxyError.broken(fault)
                cell.exchange.log.tell(.failed(token: error.token, details: error.details), out.now)
                cell.exchange.cut(reset: true, &out)
                settle(cell, &out)
            }
        }
    }

    /// The exchange of a stream, as long as it lasts.
    private func cell(on stream: StreamID) -> ExchangeCell? {
        cells.first { $0.stream?.id == stream && !$0.exchange.isOver }
    }

    private mutating func start(_ stream: StreamID, _ out: inout Outbox) -> ExchangeCell {
        let cell = begin(&out)
        cell.stream = ClientStream(stream)
        return cell
    }

    private mutating func begin(
        _ stream: StreamID, _ framing: BodyFraming, _ streams: any StreamServer, _ out: inout Outbox
    ) {
        let cell = start(stream, &out)
        swap(&streams.head, &cell.exchange.request)
        // in a tunnel there is no other
        if cell.exchange.request.method == .connect, context.tunnel == nil { return carry(cell, &out) }
        startRecord(of: cell, &out)
        cell.exchange.noteHead()
        let limit = max(engine.settings.limits.perClient, engine.settings.http2.streams)
        guard context.share?.begin(openStreams, limit) ?? true else {
            cell.exchange.answer(.tooManyStreams(limit), &out)
            return settle(cell, &out)
        }
        do throws(HTTPFault) {
            try cell.exchange.begin(framing, &context, &out)
        } catch {
            cell.exchange.refuse(error, &out)
        }
        settle(cell, &out)
    }

    private mutating func refuse(_ stream: StreamID, _ fault: HTTPFault, _ out: inout Outbox) {
        let cell = start(stream, &out)
        // nothing of the head may colour the answer
        cell.exchange.request = RequestHead()
        startRecord(of: cell, &out)
        cell.exchange.log.record.version = .http2
        cell.exchange.refuse(fault, &out)
        settle(cell, &out)
    }

    // MARK: bodies

    private mutating func came(
        _ bytes: Span<UInt8>, on stream: StreamID, _ streams: any StreamServer, _ out: inout Outbox
    ) {
        guard let cell = cell(on: stream) else { return streams.used(bytes.count, of: stream, to: &out.client) }
        if cell.stream?.tunnel != nil {
            passOn(bytes, of: cell, &out)
        } else if cell.stream?.pending.isEmpty == true, cell.exchange.wantsBody {
            use(bytes, of: cell, &out)
        } else {
            cell.stream.change { $0.pending.append(bytes) }
        }
    }

    /// Gives an exchange what has come of its body, as far as it wants it.
    mutating func pump(_ cell: ExchangeCell, _ out: inout Outbox) {
        while cell.exchange.wantsBody, let stream = cell.stream {
            if !stream.pending.isEmpty {
                cell.stream.change { $0.pending = [] }
                use(stream.pending.span, of: cell, &out)
            } else if let trailers = stream.end {
                if cell.exchange.bodyEnded(trailers: trailers, &context, &out) == .pass {
                    out.orders.append(
                        .sendEnd(
                            cell.exchange.id, trailers: cell.exchange.engine.passed(trailers, cell.exchange.sentHead)))
                }
                settle(cell, &out)
            } else {
                return
            }
        }
    }

    private mutating func use(_ bytes: Span<UInt8>, of cell: ExchangeCell, _ out: inout Outbox) {
        cell.exchange.bodyMoves(out.now)
        if cell.exchange.bodyCame(bytes, &context, &out) == .pass { out.send(bytes, of: cell.exchange.id) }
        cell.stream.change { $0.owed += bytes.count }
        pay(cell, &out)
        settle(cell, &out)
    }

    /// Lets the client send as much as has been used, unless its origin has enough to take.
    mutating func pay(_ cell: ExchangeCell, _ out: inout Outbox) {
        guard let owed = cell.stream?.owed, owed > 0, cell.origin.queue != .full, let streams,
            let stream = cell.stream?.id
        else { return }
        streams.used(owed, of: stream, to: &out.client)
        cell.stream.change { $0.owed = 0 }
    }

    // MARK: responses

    mutating func perform(
        _ reply: Reply, of cell: ExchangeCell, on stream: StreamID, by streams: any StreamServer, _ out: inout Outbox
    ) {
        switch reply {
        case .interim(let head, let isOwn):
            let via = isOwn ? [] : cell.exchange.engine.via(received: head.version)
            streams.interim(head, via: via, on: stream, to: &out.client)
        case .head(let head, let framing, let how):
            var manner = manner(of: head, how, in: cell, date: out.date)
            // what is wrong with one request says nothing of the others
            manner.isLast = false
            streams.respond(head, framing, manner, on: stream, to: &out.client)
        case .own(let head, let body, _):
            var manner = ResponseManner()
            manner.isOwn = true
            streams.respond(head, .length(UInt64(body.count)), manner, on: stream, to: &out.client)
            _ = streams.write(body.span, on: stream, to: &out.client)
            streams.end(trailers: [], on: stream, to: &out.client)
        case .data(let bytes): write(bytes.span, of: cell, &out)
        // a stream carries messages alone: what is none ends it
        case .raw: break
        // a connection of its own has seen to that
        case .connect, .openOwnPages: break
        case .end(let trailers): streams.end(trailers: trailers, on: stream, to: &out.client)
        case .call(let call): begin(call, for: cell, &out)
        case .switching(let head): openTunnel(of: cell, with: head, on: stream, by: streams, &out)
        }
    }

    // MARK: the end

    /// The exchange is over; the connection goes on.
    mutating func finish(
        _ cell: ExchangeCell, on stream: ClientStream, by streams: any StreamServer, isWhole: Bool, _ out: inout Outbox
    ) {
        streams.flush(to: &out.client)
        // what nobody used counts for the connection's window still
        let ungranted = stream.owed + stream.pending.count
        if ungranted > 0 { streams.used(ungranted, of: stream.id, to: &out.client) }
        cell.stream.change {
            $0.owed = 0
            $0.pending = []
        }
        if isWhole, streams.waiting(on: stream.id) > 0 { remains.untaken.append(stream.id) }
        if !isWhole {
            streams.reset(stream.id, .failed, to: &out.client)
        } else if stream.end == nil {
            remains.add(unfinished: stream.id, now: out.now)
        }
        context.share?.letGo(of: cell.exchange.id)
        context.share?.end(openStreams)
        orderRecord(of: cell, &out)
        remains.moved(now: out.now)
        wait(until: out.now + engine.settings.timeouts.idle)
        if next?.isKept == false, !isBusy { closeStreams(&out) }
    }

    /// Tells the client to send no more where its response is whole.
    mutating func stopUnfinished(_ out: inout Outbox) {
        guard let streams else { return }
        for stream in remains.takeDue(out.now) { streams.reset(stream, .complete, to: &out.client) }
    }

    /// Gives back memory where nothing has moved for a while.
    mutating func restStreams(_ out: inout Outbox) {
        guard remains.takeRest(out.now), case .serving = stage, !isBusy else { return }
        streams?.rest()
    }

    /// An exchange is under way, or the client has still to take what came of one.
    var isBusy: Bool {
        if cells.contains(where: { !$0.exchange.isOver }) { return true }
        if calls.areAwaited { return true }
        guard let streams else { return false }
        return remains.untaken.contains { streams.waiting(on: $0) > 0 }
    }

    /// Looks which answers have gone out by now that waited for the client's windows.
    private mutating func noteTaken(_ streams: any StreamServer, _ out: inout Outbox) {
        remains.moved(now: out.now)
        guard !remains.untaken.isEmpty else { return }
        remains.untaken.removeAll { streams.waiting(on: $0) == 0 }
        wait(until: out.now + engine.settings.timeouts.idle)
        if next?.isKept == false, !isBusy { closeStreams(&out) }
    }

    /// No further stream is begun, and the connection ends with those that there are.
    /// - Returns: false where that was so already.
    public mutating func leave(now: Int, _ out: inout Outbox) -> Bool {
        guard streams != nil, case .serving = stage, next?.isKept != false else { return false }
        out.now = now
        leaveStreams(engine, &out)
        return true
    }

    /// Writes what was kept for what might follow it. Before the outbox's bytes are sent.
    public mutating func flush(_ out: inout Outbox) { streams?.flush(to: &out.client) }

    /// Where requests are streams, tells the client which one was the last: it may send again what crosses with that.
    public mutating func sayGoodbye(_ out: inout Outbox) { streams?.leave(to: &out.client) }

    /// A generation that does not have the client comes into force.
    mutating func leaveStreams(_ engine: Engine, _ out: inout Outbox) {
        sayGoodbye(&out)
        guard isBusy else { return closeStreams(&out) }
        next = NextGeneration(engine: engine, isKept: false)
    }
}
