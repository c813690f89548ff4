import HTTP1
import HTTPCodec
import Interception

/// Carries out the replies of an exchange.
extension ClientConnection {
    /// Carries out the replies that the exchange left, and finishes the exchange when it is over.
    mutating func settle(_ cell: ExchangeCell, _ out: inout Outbox) {
        if !out.replies.isEmpty {
            var replies: [Reply] = []
            swap(&replies, &out.replies)
            var isSettled = false
            for index in replies.indices {
                // move the reply out: a second reference would cost reference counting for all its parts
                var reply = Reply.connect
                swap(&reply, &replies[index])
                if reply.leadsOn { isSettled = true }
                perform(reply, of: cell, &out)
            }
            // keep the buffer for the next exchange
            replies.removeAll(keepingCapacity: true)
            if out.replies.isEmpty { swap(&replies, &out.replies) }
            // the exchange may be over by now, and its cell in use by another
            if isSettled { return }
        }
        if let caller = cell.exchange.caller {
            // the moments of a call belong to its caller's record
            exchanges[caller]?.exchange.log.add(cell.exchange.log.takeEvents())
        } else {
            endCalls(of: cell, &out)
        }
        guard case .over(let ending) = cell.exchange.stage.state else { return }
        ended(cell, ending, &out)
    }

    private mutating func perform(_ reply: Reply, of cell: ExchangeCell, _ out: inout Outbox) {
        let stream = cell.streamID
        switch reply {
        case .interim(let head, let isOwn):
            let via = isOwn ? [] : cell.exchange.engine.via(received: head.version)
            codec.interim(head, via: via, on: stream, &out)
        case .head(let head, let framing, let how):
            var manner = manner(of: head, how, in: cell, date: out.date)
            manner.closes = isLastOfClient
            manner.isLast = manner.isLast || leaves(out)
            codec.respond(head, framing, manner, on: stream, &out)
        case .own(let head, let body, let isLast):
            var manner = ResponseManner()
            manner.isOwn = true
            manner.isLast = isLast || leaves(out) || endsTunnel(cell.exchange, status: head.status)
            codec.respond(head, .length(UInt64(body.count)), manner, on: stream, &out)
            _ = codec.write(body.span, on: stream, &out)
            codec.end(trailers: [], on: stream, &out)
        case .data(let bytes): write(bytes.span, of: cell, &out)
        case .end(let trailers): codec.end(trailers: trailers, on: stream, &out)
        case .raw(let bytes):
            if codec.writeRaw(bytes, &out) { cell.exchange.log.record.responseBytes += UInt64(bytes.count) }
        case .switching(let head):
            codec.switching(head, via: cell.exchange.engine.via(received: head.version), on: stream, &out)
            guard cell.stream != nil else { return openTunnel(cell.exchange.id, &out) }
            cell.openTunnel(codec, idle: engine.settings.timeouts.tunnelIdle, &out)
        // a connection of its own handles a tunnel in a stream
        case .connect where cell.stream != nil, .openOwnPages where cell.stream != nil: break
        case .connect: beginTunnel(of: cell, &out)
        case .openOwnPages:
            codec.keepOpen()
            out.client.append(literal: Self.established)
        case .call(let call): begin(call, for: cell, &out)
        }
    }

    /// Whether the loop leaves. Requests that have already arrived are still served.
    private func leaves(_ out: borrowing Outbox) -> Bool {
        out.isLeaving && intake.pending.isEmpty && !intake.hasMore
    }

    /// Whether to close after a CONNECT that was refused: bytes for the tunnel must not be read as a request. A client that
    /// must authenticate may retry on the connection, if no such bytes have come.
    private func endsTunnel(_ exchange: borrowing Exchange, status: Int) -> Bool {
        guard exchange.request.method == .connect else { return false }
        return status != 407 || intake.hasMore || !intake.pending.isEmpty
    }

    static let established: StaticString = "HTTP/1.1 200 Connection Established\r\n\r\n"

    /// The manner in which the codec writes the head of a response.
    func manner(
        of head: borrowing ResponseHead, _ how: HeadManner, in cell: ExchangeCell, date: [UInt8]
    ) -> ResponseManner {
        var manner = ResponseManner()
        manner.isLast = how.isLast
        manner.isOwn = how.isOwn
        if how.isOwn { return manner }
        manner.via = cell.exchange.engine.via(received: head.version)
        if !head.fields.contains(.date) { manner.date = date }
        manner.lines = how.lines
        return manner
    }

    /// Writes body bytes of an origin's response.
    func write(_ bytes: Span<UInt8>, of cell: ExchangeCell, _ out: inout Outbox) {
        guard codec.write(bytes, on: cell.streamID, &out) else { return }
        cell.exchange.log.record.responseBytes += UInt64(bytes.count)
        cell.exchange.log.capture.responseCame(bytes, total: &out.captured)
    }

    private mutating func ended(_ cell: ExchangeCell, _ ending: ExchangeStage.Ending, _ out: inout Outbox) {
        switch ending {
        case .complete: finish(cell, &out)
        case .cut(let reset):
            if let stream = cell.stream { return finish(cell, on: stream, isWhole: false, &out) }
            out.orders.append(.record(cell.exchange.id))
            finishClosing(reset: reset, &out)
        case .closed:
            if let stream = cell.stream { return finish(cell, on: stream, isWhole: false, &out) }
            codec.endAfterThis()
            finish(cell, &out)
        case .called(let answer):
            cell.exchange.log.capture.delivered(answer.head, answer.body.span, total: &out.captured)
            if cell.exchange.isOrphan { cell.exchange.call?.heir?.heard(answer, out.time) }
            cell.exchange.call?.report?(answer, nil)
            if cell.exchange.log.isTraced { traced(cell, status: answer.head.status, out.now) }
            guard let caller = dismiss(cell, &out) else { return }
            caller.exchange.called(answer, &context, &out)
            settle(caller, &out)
        case .notCalled(let reason):
            cell.exchange.call?.report?(nil, reason)
            if cell.exchange.log.isTraced { traced(cell, status: 0, out.now) }
            guard let caller = dismiss(cell, &out) else { return }
            caller.exchange.callFailed(reason, &context, &out)
            settle(caller, &out)
        }
    }

    // MARK: calls

    mutating func begin(_ call: FilterCall, for caller: ExchangeCell, _ out: inout Outbox) {
        let cell = exchanges.beginCall(engine, &out)
        caller.hasCalls = true
        let places = caller.exchange.attempt.turns.map(\.key)
        cell.exchange.becomeCall(
            call, for: caller.exchange.id, places: places, began: caller.exchange.log.capture.began)
        startFlow(of: cell, for: caller, &out)
        if caller.exchange.log.isTraced { cell.exchange.log.joinTrace(of: caller.exchange.log, out.now) }
        cell.exchange.beginCall(&context, &out)
        settle(cell, &out)
    }

    /// Ends the calls of an exchange that no longer waits for one.
    private mutating func endCalls(of cell: ExchangeCell, _ out: inout Outbox) {
        if case .calling = cell.exchange.stage.state { return }
        guard cell.hasCalls else { return }
        for call in exchanges.calls.made(by: cell.exchange.id) where !exchanges.calls.isLeft(call, out) {
            giveUp(call, &out)
        }
    }

    private mutating func giveUp(_ call: ExchangeCell, _ out: inout Outbox) {
        call.exchange.release(reusable: false, &out)
        _ = dismiss(call, &out)
    }

    /// The process takes no more requests: ends the calls whose responses are then of no use.
    public mutating func giveUpUnawaited(now: Int, _ out: inout Outbox) {
        out.now = now
        for call in exchanges.calls.orphans where call.exchange.call?.heir?.isAwaited == false {
            giveUp(call, &out)
        }
    }

    /// Removes a call that is over.
    /// - Returns: the exchange that made the call.
    private mutating func dismiss(_ cell: ExchangeCell, _ out: inout Outbox) -> ExchangeCell? {
        guard exchanges.calls.remove(cell) else { return nil }
        if cell.exchange.isOrphan { context.share?.letGo(of: cell.exchange.id) }
        let caller = cell.exchange.caller
        out.keep(cell)
        out.giveBack(cell)
        guard let caller else { return nil }
        return exchanges[caller]
    }

    private func traced(_ call: ExchangeCell, status: Int, _ now: Int) {
        guard let caller = call.exchange.caller, let cell = exchanges[caller] else { return }
        cell.exchange.log.addToTrace(call.exchange, status: status, now)
    }

    // MARK: responses of origins

    /// Reads bytes from the origin while the exchange wants them.
    mutating func read(
        _ bytes: Span<UInt8>, _ position: inout Int, through origin: inout HTTP1Client, for id: ExchangeID,
        _ out: inout Outbox
    ) {
        guard let cell = exchanges[id], cell.exchange.awaitsResponse else { return origin.preventReuse() }
        if position < bytes.count { cell.exchange.answering(out.now) }
        while cell.exchange.awaitsResponse {
            let event: ResponseEvent
            do throws(HTTPFault) {
                event = try origin.read(
                    bytes, &position, limits: cell.exchange.engine.headLimits,
                    maxTrailerBytes: cell.exchange.engine.settings.limits.header)
            } catch {
                cell.exchange.originBroke(error, &context, &out)
                return settle(cell, &out)
            }
            if event == .needsMore { return relayResponse(cell, origin) }
            take(event, bytes, &origin.head, trailers: origin.trailers, cell, &out)
        }
        if position < bytes.count { origin.preventReuse() }
    }

    /// Handles an event of a response.
    /// - Parameter head: the codec's head; the exchange may swap it for another.
    mutating func take(
        _ event: ResponseEvent, _ bytes: Span<UInt8>, _ head: inout ResponseHead, trailers: [UInt8],
        _ cell: ExchangeCell, _ out: inout Outbox
    ) {
        if takeBody(event, bytes, trailers: trailers, cell, &out) { return }
        switch event {
        case .needsMore, .data, .end: return
        case .interim: cell.exchange.interimCame(head, &context, &out)
        case .head(let framing):
            swap(&head, &cell.exchange.response)
            cell.exchange.answered(framing, &context, &out)
        case .switched:
            swap(&head, &cell.exchange.response)
            cell.exchange.switched(&context, &out)
        }
        settle(cell, &out)
    }

    /// Handles body bytes of a response, or its end.
    /// - Parameter trailers: called only when the body ends.
    /// - Returns: false for any other event.
    mutating func takeBody(
        _ event: ResponseEvent, _ bytes: Span<UInt8>, trailers: @autoclosure () -> [UInt8], _ cell: ExchangeCell,
        _ out: inout Outbox
    ) -> Bool {
        switch event {
        case .data(let range):
            let piece = bytes.extracting(range)
            if cell.exchange.responseBodyCame(piece, &context, &out) == .pass {
                write(piece, of: cell, &out)
                return true
            }
        case .end: cell.exchange.responseEnded(trailers: trailers(), &context, &out)
        case .needsMore, .interim, .head, .switched: return false
        }
        settle(cell, &out)
        return true
    }

    /// Relays a body straight to the client when nothing needs to read it.
    private mutating func relayResponse(_ cell: ExchangeCell, _ origin: borrowing HTTP1Client) {
        guard cell.exchange.stage.deliversRaw, codec.writesRaw, !cell.exchange.log.capture.wantsResponse,
            let rest = origin.rawBody
        else { return }
        relays[.origin] = rest
    }
}
