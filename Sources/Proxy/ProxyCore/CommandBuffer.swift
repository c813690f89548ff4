import Formats
internal import HTTP2
public import Journal

/// The output of a client's connection: bytes for the client, commands, and their body bytes. It also provides the
/// time. Each loop has one, cleared after every call.
public struct CommandBuffer: ~Copyable {
    public internal(set) var client: [UInt8] = []
    /// The bytes of the commands `sendBody` and `sendRaw`, in their sequence.
    public internal(set) var origin: [UInt8] = []
    public internal(set) var commands: [DriverCommand] = []
    /// The heads of the commands `send`. Kept apart, because each order reserves room for the largest case and is moved often.
    public internal(set) var heads: [OutgoingHead] = []
    /// The commands of an exchange for the client's side; its connection takes them before it returns.
    var clientCommands: [ClientCommand] = []
    /// The window budget of this loop's HTTP/2 clients.
    let windows = WindowBudget()
    /// Milliseconds of a monotonic clock.
    var now = 0
    private var told = Told()
    /// Flows for the journal, until the driver takes them.
    var flows = FlowBatch()
    /// The id of this loop's last flow.
    private var lastFlow = CommandBuffer.firstFlow
    /// The number of the loop, as part of its flows' ids; below `CommandBuffer.loops`.
    private let loop: UInt64
    /// Body bytes held for the journal.
    var captured = 0
    /// The loop takes no more clients: each further response is the last of its connection.
    public var isLeaving = false
    /// Cells of finished exchanges, for reuse.
    private var cells: [ExchangeCell] = []
    /// The generation of the last exchange's configuration; only its cells are kept.
    private var generation: Engine?

    private struct Told {
        var date: [UInt8] = []
        var seconds = 0
    }

    /// The most loops in a process.
    public static let loops: UInt64 = 1 << 10
    /// The number of flows of a loop with unique ids. A flow's id has 48 bits; its other bits identify the run.
    private static let mostFlows: UInt64 = 1 << 38
    /// The first number has a minimum length, so that an abbreviated id is recognizable and still unique.
    private static let firstFlow: UInt64 = 1 << 28
    private static let keptCells = 64
    private static let keptCapacity = 256 << 10

    /// - Parameter loop: its number, below `loops`.
    public init(loop: Int = 0) { self.loop = UInt64(truncatingIfNeeded: loop) & (Self.loops - 1) }

    /// The time for a `Date` field, in whole seconds; empty until it is set.
    var date: [UInt8] { told.date }
    /// The calendar time, in seconds since 1970; 0 until it is set.
    var seconds: Int { told.seconds }

    /// The current time, by the loop's clock and by the calendar.
    var time: CookieSessions.Now { CookieSessions.Now(milliseconds: now, seconds: seconds) }

    /// - Parameter seconds: since 1970. The date is formatted at most once a second.
    public mutating func tell(time seconds: Int) {
        guard seconds != told.seconds else { return }
        told.seconds = seconds
        told.date = Array(CalendarTime(seconds).http.utf8)
    }

    public mutating func clearClient() { client.removeAll(keepingCapacity: client.capacity <= Self.keptCapacity) }
    public mutating func clearOrigin() { origin.removeAll(keepingCapacity: origin.capacity <= Self.keptCapacity) }
    /// Takes a command to execute it; none stays in its place.
    public mutating func removeCommand(_ index: Int) -> DriverCommand {
        var command = DriverCommand.proceed
        swap(&command, &commands[index])
        return command
    }

    public mutating func clearCommands() {
        commands.removeAll(keepingCapacity: true)
        if !heads.isEmpty { heads.removeAll(keepingCapacity: true) }
    }

    /// Orders the head of a request for its stream.
    mutating func send(_ head: consuming OutgoingHead, of id: ExchangeID) {
        commands.append(.send(id, head: heads.count))
        heads.append(consume head)
    }

    /// Orders body bytes for the origin.
    mutating func send(_ bytes: Span<UInt8>, of id: ExchangeID) {
        guard !bytes.isEmpty else { return }
        origin.append(bytes)
        commands.append(.sendBody(id, bytes.count))
    }

    /// Orders raw bytes of a tunnel for the origin.
    mutating func sendRaw(_ bytes: Span<UInt8>, of id: ExchangeID) {
        guard !bytes.isEmpty else { return }
        origin.append(bytes)
        commands.append(.sendRaw(id, bytes.count))
    }

    // MARK: exchanges

    mutating func cell(_ id: ExchangeID, _ engine: Engine) -> ExchangeCell {
        if generation !== engine {
            generation = engine
            cells = []
        }
        guard let cell = cells.popLast() else { return ExchangeCell(id, engine) }
        cell.exchange.renew(id, engine)
        cell.origin = Endpoint()
        cell.stream = nil
        cell.hasCalls = false
        return cell
    }

    /// Writes a finished exchange to the journal, if there is one.
    mutating func keep(_ cell: ExchangeCell) {
        guard cell.exchange.log.capture.isOn else { return }
        FlowWriter.write(cell.exchange, into: &flows, now: now)
        cell.exchange.log.capture.forget(total: &captured)
    }

    /// The id for another flow.
    mutating func nextFlow() -> UInt64 {
        lastFlow = max(Self.firstFlow, (lastFlow + 1) % Self.mostFlows)
        return loop * Self.mostFlows | lastFlow
    }

    /// Takes the flows for the journal.
    /// - Parameter least: the fewest bytes that are worth taking.
    public mutating func takeFlows(_ least: Int = 1) -> FlowBatch? {
        flows.bytes.count >= least ? flows.handOver() : nil
    }

    mutating func giveBack(_ cell: ExchangeCell) {
        cell.exchange.log.capture.forget(total: &captured)
        // a test session may end, so a cell that is kept must not hold its rules
        if cell.exchange.info.testSession != nil, let generation { cell.exchange.info.adopt(generation) }
        cell.exchange.rest()
        guard cells.count < Self.keptCells, generation === cell.exchange.engine else { return }
        cells.append(cell)
    }
}
