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
        switch codec.write(reply, of: cell, hasMore: intake.hasMore, hasEnded: context.hasEnded, &out) {
        case .nothing: break
        case .tunnel where cell.stream != nil:
            cell.openTunnel(codec, idle: engine.settings.timeouts.tunnelIdle, &out)
        case .tunnel: openTunnel(cell.exchange.id, &out)
        case .connect: beginTunnel(of: cell, &out)
        case .call(let call): begin(call, for: cell, &out)
        }
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
            switch cell.readResponse(bytes, &position, through: &origin, &codec, &context, &out) {
            case .passed: break
            case .changed: settle(cell, &out)
            case .needsMore: return relayResponse(cell, origin)
            case .broke: return settle(cell, &out)
            }
        }
        if position < bytes.count { origin.preventReuse() }
    }

    /// Relays a body straight to the client when nothing needs to read it.
    private mutating func relayResponse(_ cell: ExchangeCell, _ origin: borrowing HTTP1Client) {
        guard cell.exchange.stage.deliversRaw, codec.writesRaw, !cell.exchange.log.capture.wantsResponse,
            let rest = origin.rawBody
        else { return }
        relays.begin(.origin, rest, of: cell.exchange.id)
    }
}
