import Formats
internal import HTTP2
import HTTPCodec
public import Journal

/// Where a client's connection writes: bytes for the client, orders, and body bytes that go with them. It also knows what
/// time it is. One for each loop, cleared after every call.
public struct Outbox: ~Copyable {
    public internal(set) var client: [UInt8] = []
    /// What the orders `sendBody` are about, in their order.
    public internal(set) var origin: [UInt8] = []
    public internal(set) var orders: [Order] = []
    /// What the orders `send` are about. Beside them, for each order has room for the largest, and moves more than once.
    public internal(set) var heads: [OutgoingHead] = []
    /// What an exchange wants done on the client's side; its connection takes them before it returns.
    var replies: [Reply] = []
    /// Of this loop's clients that speak HTTP/2.
    let windows = WindowBudget()
    /// Milliseconds of a monotonic clock.
    var now = 0
    private var told = Told()
    /// What the journal is told, until the driver takes it.
    var flows = FlowBatch()
    /// What the last flow of this loop is called.
    private var lastFlow = Outbox.firstFlow
    /// Tells this loop's flows from those of others; at most `Outbox.loops` are there.
    private let loop: UInt64
    /// Bytes of bodies that are held for it.
    var captured = 0
    /// The loop takes no more clients: what is answered from here on is the last of its connection.
    public var isLeaving = false
    /// Exchanges that are over, for those to come.
    private var cells: [ExchangeCell] = []
    /// The generation of the configuration that the last exchange began with; cells of no other are kept.
    private var generation: ObjectIdentifier?

    private struct Told {
        var date: [UInt8] = []
        var seconds = 0
    }

    /// How many loops a process may have.
    public static let loops: UInt64 = 1 << 10
    /// Ids have 48 bits, for the others tell runs apart: so many flows of a loop have one of their own.
    private static let mostFlows: UInt64 = 1 << 38
    /// So that a part of one is seen to be a part, and says which it is.
    private static let firstFlow: UInt64 = 1 << 28
    private static let keptCells = 64
    private static let keptCapacity = 256 << 10

    /// - Parameter loop: its number, below `loops`.
    public init(loop: Int = 0) { self.loop = UInt64(truncatingIfNeeded: loop) & (Self.loops - 1) }

    /// The time as a `Date` field says it, in whole seconds; empty until it is told.
    var date: [UInt8] { told.date }
    /// The time by the calendar, in seconds since 1970; 0 until it is told.
    var seconds: Int { told.seconds }

    /// Tells what time it is by the calendar. Writes it out anew once a second at most.
    var time: CookieSessions.Now { CookieSessions.Now(milliseconds: now, seconds: seconds) }

    /// - Parameter seconds: since 1970.
    public mutating func tell(time seconds: Int) {
        guard seconds != told.seconds else { return }
        told.seconds = seconds
        told.date = Array(CalendarTime(seconds).http.utf8)
    }

    public mutating func clearClient() { client.removeAll(keepingCapacity: client.capacity <= Self.keptCapacity) }
    public mutating func clearOrigin() { origin.removeAll(keepingCapacity: origin.capacity <= Self.keptCapacity) }
    /// An order that is carried out now; none stays in its place.
    public mutating func takeOrder(_ index: Int) -> Order {
        var order = Order.proceed
        swap(&order, &orders[index])
        return order
    }

    public mutating func clearOrders() {
        orders.removeAll(keepingCapacity: true)
        if !heads.isEmpty { heads.removeAll(keepingCapacity: true) }
    }

    /// The head of a request for its stream.
    mutating func send(_ head: consuming OutgoingHead, of id: ExchangeID) {
        orders.append(.send(id, head: heads.count))
        heads.append(consume head)
    }

    /// Body bytes for the origin.
    mutating func send(_ bytes: Span<UInt8>, of id: ExchangeID) {
        guard !bytes.isEmpty else { return }
        origin.append(bytes)
        orders.append(.sendBody(id, bytes.count))
    }

    /// Bytes of a tunnel.
    mutating func sendRaw(_ bytes: Span<UInt8>, of id: ExchangeID) {
        guard !bytes.isEmpty else { return }
        origin.append(bytes)
        orders.append(.sendRaw(id, bytes.count))
    }

    // MARK: exchanges

    mutating func cell(_ id: ExchangeID, _ engine: Engine) -> ExchangeCell {
        if generation != ObjectIdentifier(engine) {
            generation = ObjectIdentifier(engine)
            cells = []
        }
        guard let cell = cells.popLast() else { return ExchangeCell(id, engine) }
        cell.exchange.renew(id, engine)
        cell.origin = Endpoint()
        cell.stream = nil
        cell.hasCalls = false
        return cell
    }

    /// Has the journal told of an exchange that is over, where there is one.
    mutating func keep(_ cell: ExchangeCell) {
        guard cell.exchange.log.capture.isOn else { return }
        FlowWriter.write(cell.exchange, into: &flows, now: now)
        cell.exchange.log.capture.forget(total: &captured)
    }

    /// The id of another flow.
    mutating func nextFlow() -> UInt64 {
        lastFlow = max(Self.firstFlow, (lastFlow + 1) % Self.mostFlows)
        return loop * Self.mostFlows | lastFlow
    }

    /// What the journal is to be told by now.
    /// - Parameter least: bytes from which on it is worth it.
    public mutating func takeFlows(_ least: Int = 1) -> FlowBatch? {
        flows.bytes.count >= least ? flows.handOver() : nil
    }

    mutating func giveBack(_ cell: ExchangeCell) {
        cell.exchange.log.capture.forget(total: &captured)
        cell.exchange.rest()
        guard cells.count < Self.keptCells, generation == ObjectIdentifier(cell.exchange.engine) else { return }
        cells.append(cell)
    }
}
