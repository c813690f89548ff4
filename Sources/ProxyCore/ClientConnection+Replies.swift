import HTTP1
import HTTPCodec
import Interception

/// What an exchange wants done, once it has been told something.
extension ClientConnection {
    /// Carries out the replies that the exchange left, and what follows when it is over.
    mutating func settle(_ cell: ExchangeCell, _ out: inout Outbox) {
        if !out.replies.isEmpty {
            var replies: [Reply] = []
            swap(&replies, &out.replies)
            var isSettled = false
            for reply in replies {
                perform(reply, of: cell, &out)
                if reply.leadsOn { isSettled = true }
            }
            // the buffer is lent to the next
            replies.removeAll(keepingCapacity: true)
            if out.replies.isEmpty { swap(&replies, &out.replies) }
            // the exchange may be over by now, and the cell another one's
            if isSettled { return }
        }
        if cell.exchange.isCall { passOnEvents(of: cell) } else { endCalls(of: cell, &out) }
        guard case .over(let ending) = cell.exchange.stage else { return }
        ended(cell, ending, &out)
    }

    private mutating func perform(_ reply: Reply, of cell: ExchangeCell, _ out: inout Outbox) {
        switch reply {
        case .interim(let head, let isOwn):
            leg.interim(head, via: isOwn ? [] : cell.exchange.engine.via(received: head.version), to: &out.client)
        case .head(let head, let framing, let lines):
            var manner = ResponseManner()
            manner.via = cell.exchange.engine.via(received: head.version)
            if !head.fields.contains(.date) { manner.date = out.date }
            manner.lines = lines
            manner.closes = isLastOfClient
            leg.respond(head, framing, manner, to: &out.client)
        case .own(let head, let body, let isLast):
            var manner = ResponseManner()
            manner.isOwn = true
            manner.isLast = isLast
            leg.respond(head, .length(UInt64(body.count)), manner, to: &out.client)
            write(body.span, of: cell, counts: false, &out)
            leg.end(trailers: [], to: &out.client)
        case .data(let bytes): write(bytes.span, of: cell, counts: true, &out)
        case .end(let trailers): leg.end(trailers: trailers, to: &out.client)
        case .switching(let head):
            leg.switching(head, via: cell.exchange.engine.via(received: head.version), to: &out.client)
            openTunnel(cell.exchange.id, &out)
        case .connect: beginTunnel(of: cell, &out)
        case .openOwnPages:
            leg.keepOpen()
            out.client.append(literal: Self.established)
        case .call(let call): begin(call, for: cell, &out)
        }
    }

    static let established: StaticString = "HTTP/1.1 200 Connection Established\r\n\r\n"

    /// Body bytes for the client.
    func write(_ bytes: Span<UInt8>, of cell: ExchangeCell, counts: Bool, _ out: inout Outbox) {
        leg.write(bytes, to: &out.client)
        if counts, !leg.writesNothing { cell.exchange.record.responseBytes += UInt64(bytes.count) }
    }

    private mutating func ended(_ cell: ExchangeCell, _ ending: Exchange.Ending, _ out: inout Outbox) {
        switch ending {
        case .complete: finish(cell, &out)
        case .cut(let reset):
            out.orders.append(.record(cell.exchange.id))
            finishClosing(reset: reset, &out)
        case .called(let answer):
            guard let caller = dismiss(cell, &out) else { return }
            caller.exchange.called(answer, &context, &out)
            settle(caller, &out)
        case .notCalled(let reason):
            guard let caller = dismiss(cell, &out) else { return }
            caller.exchange.callFailed(reason, &context, &out)
            settle(caller, &out)
        }
    }

    // MARK: calls

    private mutating func begin(_ call: DetourCall, for caller: ExchangeCell, _ out: inout Outbox) {
        let cell = begin(&out)
        cell.exchange.becomeCall(call, for: caller.exchange.id, began: caller.exchange.began)
        cell.exchange.beginCall(&context, &out)
        settle(cell, &out)
    }

    /// The calls of an exchange that no longer waits for one are given up.
    private mutating func endCalls(of cell: ExchangeCell, _ out: inout Outbox) {
        if case .calling = cell.exchange.stage { return }
        guard cells.count > 1 else { return }
        for call in cells where call.exchange.caller == cell.exchange.id && !call.exchange.isOver {
            call.exchange.release(reusable: false, &out)
            _ = dismiss(call, &out)
        }
    }

    /// Takes a call that is over away.
    /// - Returns: the exchange that made it.
    private mutating func dismiss(_ cell: ExchangeCell, _ out: inout Outbox) -> ExchangeCell? {
        guard let index = cells.firstIndex(where: { $0 === cell }) else { return nil }
        cells.remove(at: index)
        let caller = cell.exchange.caller
        out.giveBack(cell)
        guard let caller else { return nil }
        return self.cell(caller)
    }

    /// What happens in a call stands in the record of whoever made it.
    private func passOnEvents(of call: ExchangeCell) {
        guard let caller = call.exchange.caller, let cell = cell(caller) else { return }
        cell.exchange.addEvents(call.exchange.takeEvents())
    }

    // MARK: answers of origins

    /// Reads what came from the origin, as long as the exchange wants it.
    mutating func read(
        _ bytes: Span<UInt8>, _ position: inout Int, through origin: inout HTTP1Client, for id: ExchangeID,
        _ out: inout Outbox
    ) {
        guard let cell = cell(id), cell.exchange.awaitsResponse else { return origin.preventReuse() }
        if position < bytes.count { cell.exchange.answering(out.now) }
        while cell.exchange.awaitsResponse {
            let event: HTTP1Client.Event
            do throws(HTTPFault) {
                event = try origin.read(
                    bytes, &position, limits: cell.exchange.engine.headLimits,
                    maxTrailerBytes: cell.exchange.engine.settings.limits.header)
            } catch {
                cell.exchange.originBroke(error, &context, &out)
                return settle(cell, &out)
            }
            switch event {
            case .needsMore: return relayResponse(cell, origin)
            case .interim: cell.exchange.interimCame(origin.head, &out)
            case .head(let framing):
                swap(&origin.head, &cell.exchange.response)
                cell.exchange.answered(framing, &context, &out)
            case .switched:
                swap(&origin.head, &cell.exchange.response)
                cell.exchange.switched(&context, &out)
                return settle(cell, &out)
            case .data(let range):
                let piece = bytes.extracting(range)
                if cell.exchange.responseBodyCame(piece, &context, &out) == .pass {
                    write(piece, of: cell, counts: true, &out)
                    continue
                }
            case .end: cell.exchange.responseEnded(trailers: origin.trailers, &context, &out)
            }
            settle(cell, &out)
        }
        if position < bytes.count { origin.preventReuse() }
    }

    /// A body of which nobody needs to see more goes straight to the client.
    private mutating func relayResponse(_ cell: ExchangeCell, _ origin: borrowing HTTP1Client) {
        guard cell.exchange.hasStarted, leg.writesRaw, let rest = origin.rawBody else { return }
        relays[.origin] = rest
    }
}
