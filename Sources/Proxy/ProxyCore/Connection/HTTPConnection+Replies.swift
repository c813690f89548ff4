import HTTP1
import HTTPCodec
import Interception

/// Carries out the commands of an exchange.
extension HTTPConnection {
    /// Carries out the commands that the exchange left, and finishes the exchange when it is over.
    mutating func settle(_ cell: ExchangeCell, _ out: inout CommandBuffer) {
        if !out.clientCommands.isEmpty {
            var clientCommands: [ClientCommand] = []
            swap(&clientCommands, &out.clientCommands)
            var isSettled = false
            for index in clientCommands.indices {
                // move the reply out: a second reference would cost reference counting for all its parts
                var reply = ClientCommand.connect
                swap(&reply, &clientCommands[index])
                if reply.leadsOn { isSettled = true }
                perform(reply, of: cell, &out)
            }
            // keep the buffer for the next exchange
            clientCommands.removeAll(keepingCapacity: true)
            if out.clientCommands.isEmpty { swap(&clientCommands, &out.clientCommands) }
            // the exchange may be over by now, and its cell in use by another
            if isSettled { return }
        }
        if let caller = cell.exchange.caller {
            // the events of a call belong to its caller's record
            exchanges[caller]?.exchange.log.add(cell.exchange.log.takeEvents())
        } else if cell.hasCalls {
            exchanges.endCalls(of: cell, context.share, &out)
        }
        guard case .over(let ending) = cell.exchange.stage.state else { return }
        cell.exchange.finish()
        ended(cell, ending, &out)
    }

    private mutating func perform(_ reply: ClientCommand, of cell: ExchangeCell, _ out: inout CommandBuffer) {
        switch codec.write(reply, of: cell, hasMore: intake.hasMore, hasEnded: context.hasEnded, &out) {
        case .nothing: break
        case .tunnel where cell.stream != nil:
            cell.openTunnel(codec, idle: engine.settings.timeouts.tunnelIdle, &out)
        case .tunnel: sequel = .tunnel(cell.exchange.id)
        case .connect: sequel = .connect(cell)
        case .call(let call): begin(call, for: cell, &out)
        }
    }

    private mutating func ended(_ cell: ExchangeCell, _ ending: ExchangeStage.Ending, _ out: inout CommandBuffer) {
        switch ending {
        case .complete: finish(cell, &out)
        case .cut(let reset):
            if let stream = cell.stream { return finish(cell, on: stream, isWhole: false, &out) }
            out.commands.append(.record(cell.exchange.id))
            sequel = .close(reset: reset)
        case .closed:
            if let stream = cell.stream { return finish(cell, on: stream, isWhole: false, &out) }
            codec.endAfterThis()
            finish(cell, &out)
        case .called(let answer):
            cell.exchange.log.capture.delivered(answer.head, answer.body.span, total: &out.captured)
            if cell.exchange.isOrphan { cell.exchange.call?.detachedCall?.heard(answer, out.time) }
            cell.exchange.call?.report?(answer, nil)
            guard let caller = exchanges.dismiss(cell, status: answer.head.status, context.share, &out) else { return }
            caller.exchange.came(.response(answer), &context, &out)
            settle(caller, &out)
        case .notCalled(let reason):
            cell.exchange.call?.report?(nil, reason)
            guard let caller = exchanges.dismiss(cell, status: 0, context.share, &out) else { return }
            caller.exchange.came(.noResponse(reason), &context, &out)
            settle(caller, &out)
        }
    }

    // MARK: calls

    private mutating func begin(_ call: FilterCall, for caller: ExchangeCell, _ out: inout CommandBuffer) {
        let cell = exchanges.beginCall(engine, &out)
        caller.hasCalls = true
        cell.exchange.info.becomeCall(
            call, for: caller.exchange.id, in: caller.exchange.info.testSession,
            places: caller.exchange.attempt.limitPlaces.map(\.key), began: caller.exchange.log.capture.began)
        exchanges.startFlow(of: cell, for: caller, &out)
        if caller.exchange.log.isTraced { cell.exchange.log.joinTrace(of: caller.exchange.log, out.now) }
        cell.exchange.beginCall(&context, &out)
        settle(cell, &out)
    }

    /// Runs a call that no exchange waits for.
    /// - Parameter report: receives the reason of a failure, or nil. Not called if the connection ends before.
    public mutating func run(
        _ backgroundCall: BackgroundCall, now: Int, _ out: inout CommandBuffer, _ report: @escaping (String?) -> Void
    ) {
        out.now = now
        let cell = exchanges.beginCall(engine, &out)
        let call = FilterCall(
            backgroundCall.call, to: backgroundCall.bound, maxResponseBytes: 64 << 10,
            report: { answer, reason in
                if let answer { report(backgroundCall.fault(answer)) } else { report(reason) }
            }, told: backgroundCall.told)
        cell.exchange.info.becomeCall(
            call, for: .none, in: backgroundCall.testSession?.joined(to: context.stores), places: [], began: now)
        cell.exchange.beginCall(&context, &out)
        settle(cell, &out)
    }

    /// The process takes no more requests: ends the calls whose responses are then of no use.
    public mutating func giveUpUnawaited(now: Int, _ out: inout CommandBuffer) {
        out.now = now
        exchanges.giveUpUnawaited(context.share, &out)
    }
}
