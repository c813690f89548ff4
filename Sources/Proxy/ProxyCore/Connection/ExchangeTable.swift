import HTTPCodec
public import Interception

/// The exchanges under way on a client's connection, by id and by stream, and the calls of their filters.
public struct ExchangeTable: ~Copyable {
    /// The client's exchanges, oldest first.
    private(set) var cells: [ExchangeCell] = []
    /// The calls of the exchanges' filters.
    var calls = CallTable()
    /// The number of exchanges that have begun.
    private var begun: UInt32 = 0
    /// The id of the last flow.
    public private(set) var lastFlow: UInt64 = 0

    // MARK: finding

    subscript(_ id: ExchangeID) -> ExchangeCell? { cells.first { $0.exchange.id == id } ?? calls[id] }

    /// The exchange on a stream, while it lasts.
    subscript(on stream: StreamID) -> ExchangeCell? {
        cells.first { $0.stream?.id == stream && !$0.exchange.isOver }
    }

    /// The client's current exchange.
    var current: ExchangeCell? { cells.last { !$0.exchange.isOver } }

    // MARK: changes

    /// Provides a cell for another exchange of the client.
    mutating func begin(_ engine: Engine, _ out: inout CommandBuffer) -> ExchangeCell {
        let cell = next(engine, &out)
        cells.append(cell)
        return cell
    }

    /// Provides a cell for a call.
    mutating func beginCall(_ engine: Engine, _ out: inout CommandBuffer) -> ExchangeCell {
        let cell = next(engine, &out)
        calls.add(cell)
        return cell
    }

    private mutating func next(_ engine: Engine, _ out: inout CommandBuffer) -> ExchangeCell {
        begun &+= 1
        return out.cell(ExchangeID(begun), engine)
    }

    /// Removes an exchange of the client without a record.
    mutating func forget(_ cell: ExchangeCell, _ out: inout CommandBuffer) {
        guard let index = cells.firstIndex(where: { $0 === cell }) else { return }
        cells.remove(at: index)
        out.giveBack(cell)
    }

    /// A head that is being read and a CONNECT that is being answered use the new rules.
    func adopt(_ engine: Engine) {
        for cell in cells where cell.exchange.isReading || cell.exchange.isTunnelling {
            if cell.exchange.info.testSession == nil { cell.exchange.info.adopt(engine) }
        }
    }

    /// Orders the record of an exchange that is over. The child connection records a tunnel in a stream.
    mutating func orderRecord(of cell: ExchangeCell, _ out: inout CommandBuffer) {
        guard cell.stream?.tunnel?.isCarried == true else {
            return out.commands.append(.record(cell.exchange.id))
        }
        forget(cell, &out)
    }

    // MARK: records

    /// Takes the record of an exchange that is over.
    public mutating func takeRecord(
        of id: ExchangeID, _ out: inout CommandBuffer, _ take: (borrowing ExchangeRecord) -> Void
    ) {
        guard let index = cells.firstIndex(where: { $0.exchange.id == id }) else { return }
        let cell = cells.remove(at: index)
        Self.show(&cell.exchange.log.record, take)
        out.keep(cell)
        out.giveBack(cell)
    }

    /// - Parameter record: read in place, to save reference counting.
    private static func show(_ record: inout ExchangeRecord, _ take: (borrowing ExchangeRecord) -> Void) {
        take(record)
    }

    /// Starts the record of the exchange.
    mutating func startRecord(of cell: ExchangeCell, _ context: borrowing ClientContext, _ out: inout CommandBuffer) {
        lastFlow = out.nextFlow()
        cell.exchange.log.record.reset(flow: lastFlow)
        cell.exchange.log.record.client = context.name
        if context.tunnel != nil { cell.exchange.log.record.user = context.user }
        cell.exchange.log.capture.began = out.now
        cell.exchange.log.capture.begin(lastFlow, cell.exchange.engine.settings.disclosure.capture, out.now)
    }

    /// Starts a flow for the call, as a part of its caller's flow.
    mutating func startFlow(of call: ExchangeCell, for caller: ExchangeCell, _ out: inout CommandBuffer) {
        lastFlow = out.nextFlow()
        call.exchange.log.capture.begin(
            lastFlow, parent: caller.exchange.log.capture.id, caller.exchange.engine.settings.disclosure.capture,
            out.now)
    }

    /// The exchange that records what happens beside requests; a new one if there is none.
    mutating func recorded(
        _ engine: Engine, _ context: borrowing ClientContext, _ out: inout CommandBuffer
    ) -> ExchangeCell {
        if let cell = current, !cell.exchange.isReading { return cell }
        let cell = current ?? begin(engine, &out)
        // the record has no request, and must not show that of the cell's previous exchange
        cell.exchange.request = RequestHead()
        startRecord(of: cell, context, &out)
        return cell
    }

    // MARK: the end

    /// The client is gone.
    func noteAbandoned(_ now: Int) {
        for cell in cells where !cell.exchange.isOver && !cell.exchange.isReading {
            cell.exchange.info.noteAbandoned(now)
        }
    }

    /// Ends the client's exchanges at once.
    mutating func cut(reset: Bool, _ out: inout CommandBuffer) {
        for cell in cells where !cell.exchange.isOver && !cell.exchange.isReading {
            cell.exchange.cut(reset: reset, &out)
            orderRecord(of: cell, &out)
        }
    }

    /// Ends the calls and the exchanges whose head is incomplete.
    mutating func end(_ out: inout CommandBuffer) {
        calls.end(&out)
        cells.removeAll { $0.exchange.isReading }
    }

    // MARK: calls

    /// Removes a call that is over.
    /// - Parameter status: of the response, for the trace; nil when the call was given up.
    /// - Returns: the exchange that made the call.
    mutating func dismiss(
        _ call: ExchangeCell, status: Int?, _ share: ConnectionShare?, _ out: inout CommandBuffer
    ) -> ExchangeCell? {
        var caller: ExchangeCell?
        if let id = call.exchange.caller { caller = self[id] }
        if let status, call.exchange.log.isTraced {
            caller?.exchange.log.addToTrace(call.exchange, status: status, out.now)
        }
        guard calls.remove(call) else { return nil }
        if call.exchange.isOrphan { share?.letGo(of: call.exchange.id) }
        out.keep(call)
        out.giveBack(call)
        return caller
    }

    /// Ends the calls of an exchange that no longer waits for one.
    mutating func endCalls(of cell: ExchangeCell, _ share: ConnectionShare?, _ out: inout CommandBuffer) {
        if case .calling = cell.exchange.stage.state { return }
        for call in calls.made(by: cell.exchange.id) where !calls.isLeft(call, out) { giveUp(call, share, &out) }
    }

    /// Ends the calls without a caller whose responses nobody waits for.
    mutating func giveUpUnawaited(_ share: ConnectionShare?, _ out: inout CommandBuffer) {
        for call in calls.orphans where call.exchange.call?.detachedCall?.isAwaited == false {
            giveUp(call, share, &out)
        }
    }

    private mutating func giveUp(_ call: ExchangeCell, _ share: ConnectionShare?, _ out: inout CommandBuffer) {
        call.exchange.info.release(reusable: false, &out)
        _ = dismiss(call, status: nil, share, &out)
    }

    // MARK: state

    /// Whether a CONNECT is answered or its tunnel is relayed.
    public var hasTunnel: Bool { cells.contains { $0.exchange.isTunnelling } }
    /// Whether no exchange has begun yet.
    var isUnused: Bool { begun == 0 }
    var isEmpty: Bool { cells.isEmpty && calls.isEmpty }
    /// The number of exchanges under way, including the calls of Usher's own logins.
    public var count: Int { cells.count + calls.count }
    /// Whether calls without a caller are under way, which run to their end even if the client is gone.
    public var hasOrphans: Bool { calls.hasOrphans }

    /// The number of streams with an exchange under way.
    public var openStreams: Int {
        cells.reduce(0) { $0 + ($1.stream != nil && !$1.exchange.isOver ? 1 : 0) }
    }

    /// Whether an exchange is under way.
    var isBusy: Bool {
        if cells.contains(where: { !$0.exchange.isOver && !$0.exchange.isReading }) { return true }
        return calls.areAwaited
    }

    /// Whether the queue of an origin is full.
    var isOriginFull: Bool {
        for cell in cells where cell.origin.queue == .full { return true }
        return false
    }

    // MARK: time

    /// When the first exchange must be woken; nil when none is under way.
    /// - Parameter ended: the time when the client closed its side, or of the last progress since then.
    func wakeAt(clientEnded ended: Int?) -> Int? {
        var time: Int?
        for call in calls.awaited { time = min(time ?? .max, call.exchange.wakeAt(clientEnded: ended)) }
        for cell in cells where !cell.exchange.isReading && !cell.exchange.isOver {
            time = min(
                time ?? .max, cell.exchange.wakeAt(clientEnded: ended), cell.stream?.tunnel?.deadline ?? .max)
        }
        return time
    }

    /// When the first call without a caller must be woken.
    func orphansWakeAt(clientEnded ended: Int?) -> Int {
        var time = Int.max
        for call in calls.orphans where !call.exchange.isOver {
            time = min(time, call.exchange.wakeAt(clientEnded: ended))
        }
        return time
    }
}
