internal import Authorization
public import HTTPCodec
public import Interception
internal import TLSEngine

/// One client's connection as a machine: what comes before HTTP on it, the codec that reads and writes its messages, the
/// exchanges on it, and what may follow HTTP. Bytes, ends, outcomes and time come in; bytes and orders go out by the outbox.
/// No socket, no clock: every call says what time it is, in milliseconds of one monotonic clock.
public struct ClientConnection: ~Copyable {
    enum Stage {
        /// A balancer's connection: the header of the PROXY protocol comes first.
        case preface
        /// The listener speaks TLS, and the client has not sent its ClientHello, or part of it.
        case awaitingHello(begun: Bool)
        /// The client's handshake is under way: in a tunnel, or with the listener.
        case securing(Tunnel?)
        /// HTTP: an exchange is under way, or the next one is waited for.
        case serving
        /// CONNECT: the origin's connection is being made.
        case connecting(Tunnel)
        /// CONNECT was answered; the first bytes decide what is inside.
        case peeking(Tunnel)
        case tunnel(ExchangeID)
        /// The last answer has gone; what the client still sends is thrown away.
        case lingering
        case closed
    }

    /// What the client sent and nobody has used yet.
    struct Intake {
        var pending: [UInt8] = []
        var isPaused = false
        /// There are bytes behind those that are being looked at.
        var hasMore = false
        var proceeding = Proceeding.no
    }

    /// Whether what is kept will be used without anything further of the client.
    enum Proceeding {
        case no
        /// `proceed` was ordered and has not come yet.
        case ordered
        /// It came, and waits until the client has taken the answers before.
        case putOff
    }

    /// A generation of the configuration that waits until an exchange is over.
    struct NextGeneration {
        let engine: Engine
        /// It has the client, and the tunnel that it is in, still.
        let isKept: Bool
    }

    var engine: Engine
    /// Takes the place of `engine` when the exchange is over.
    var next: NextGeneration?
    private(set) var stage = Stage.serving
    /// When the stage has to be over, where no exchange says so, in milliseconds of the loop's clock.
    public private(set) var deadline: Int
    var context: ClientContext
    var codec: ServerCodec
    var remains = StreamRemains()
    /// The client's exchanges, in the order in which they began.
    var cells: [ExchangeCell] = []
    /// The calls of their filters.
    var calls = CallTable()
    var intake = Intake()
    var relays = Relays()
    /// What waits for the client.
    var client = Endpoint()
    /// How many exchanges have begun.
    private var exchanges: UInt32 = 0
    /// What the last flow's id is.
    public private(set) var lastFlow: UInt64 = 0

    /// - Parameters:
    ///   - client: the client's address, for the record.
    ///   - source: the same as a value, and how far it is to be believed.
    ///   - share: what the connection holds of its client's share.
    ///   - streams: what reads and writes the client's side where it speaks no HTTP/1.
    public init(
        engine: Engine, stores: SharedStores = SharedStores(), client: String,
        source: ClientSource = ClientSource(address: nil), share: ConnectionShare? = nil,
        streams: (any StreamServer)? = nil, now: Int
    ) {
        self.engine = engine
        codec = ServerCodec(streams)
        context = ClientContext(stores: stores, source: source, name: client, share: share)
        deadline = now + engine.settings.timeouts.idle
        if source.policy != nil {
            stage = .preface
            deadline = now + engine.settings.timeouts.header
        } else if source.isSecure {
            stage = .awaitingHello(begun: false)
        }
    }

    // MARK: what it is about

    public var isClosed: Bool { if case .closed = stage { true } else { false } }

    /// Calls are under way that nobody here waits for, and that are heard to their end wherever the client is.
    public var hasOrphans: Bool { calls.hasOrphans }

    /// Between two requests: may be closed without loss.
    public var isIdle: Bool {
        guard intake.pending.isEmpty, calls.isEmpty else { return false }
        switch stage {
        case .awaitingHello: return true
        case .serving: return awaitsRequest
        case .preface, .securing, .connecting, .peeking, .tunnel, .lingering, .closed: return false
        }
    }

    /// The next request has not begun, or not come whole.
    public var awaitsRequest: Bool {
        guard case .serving = stage else { return false }
        return !isBusy
    }

    /// A request's head has come, and nothing of its body.
    public var awaitsBody: Bool {
        guard !codec.isComplete, case .serving = stage, let cell = current else { return false }
        return !cell.exchange.isReading && cell.exchange.body.count == 0
    }

    /// The client has said that it sends no more.
    public var clientHasEnded: Bool { context.hasEnded }

    /// What has to be said of an exchange that is over.
    public mutating func takeRecord(
        of id: ExchangeID, _ out: inout Outbox, _ take: (borrowing ExchangeRecord) -> Void
    ) {
        guard let index = cells.firstIndex(where: { $0.exchange.id == id }) else { return }
        let cell = cells.remove(at: index)
        Self.show(&cell.exchange.log.record, take)
        out.keep(cell)
        out.giveBack(cell)
    }

    /// - Parameter record: where it is, so that nothing of it is counted.
    private static func show(_ record: inout ExchangeRecord, _ take: (borrowing ExchangeRecord) -> Void) {
        take(record)
    }

    /// Bytes that come from there go straight to the other side.
    public func isRelaying(from leg: Leg) -> Bool { relays[leg] > 0 }

    /// How many of so many bytes that came from there go straight to the other side. Once they are sent, `relayed` follows.
    public func relays(from leg: Leg, of count: Int) -> Int { relays.share(leg, of: count) }

    /// How many exchanges have begun and are not over; those that look after a login of Usher's own count, too.
    public var exchangesUnderWay: Int { cells.count + calls.count }

    /// Its streams on which an exchange is under way.
    public var openStreams: Int {
        cells.reduce(0) { $0 + ($1.stream != nil && !$1.exchange.isOver ? 1 : 0) }
    }

    /// What there was to count of its streams since this was asked last.
    public func takeTally() -> StreamTally { codec.takeTally() }

    /// It carries many exchanges at a time.
    public var carriesMany: Bool { codec.isMultiplexed }

    /// Nothing has begun on it so far.
    var isUnused: Bool { exchanges == 0 }

    // MARK: stages

    mutating func enter(_ stage: Stage, until time: Int) {
        self.stage = stage
        deadline = time
    }

    mutating func enter(_ stage: Stage) { self.stage = stage }

    mutating func wait(until time: Int) { deadline = time }

    // MARK: exchanges

    /// The client's exchange that is under way.
    var current: ExchangeCell? { cells.last { !$0.exchange.isOver } }

    func cell(_ id: ExchangeID) -> ExchangeCell? { cells.first { $0.exchange.id == id } ?? calls[id] }

    /// A place for another exchange.
    mutating func begin(_ out: inout Outbox) -> ExchangeCell {
        let cell = nextCell(&out)
        cells.append(cell)
        return cell
    }

    mutating func nextCell(_ out: inout Outbox) -> ExchangeCell {
        exchanges &+= 1
        return out.cell(ExchangeID(exchanges), engine)
    }

    /// From here on the exchange is one that is recorded.
    mutating func startRecord(of cell: ExchangeCell, _ out: inout Outbox) {
        lastFlow = out.nextFlow()
        cell.exchange.log.record.reset(flow: lastFlow)
        cell.exchange.log.record.client = context.name
        if context.tunnel != nil { cell.exchange.log.record.user = context.user }
        cell.exchange.log.capture.began = out.now
        cell.exchange.log.capture.begin(lastFlow, cell.exchange.engine.settings.disclosure.capture, out.now)
    }

    /// From here on the call is a flow of its own, which the flow of its caller has for a part.
    mutating func startFlow(of call: ExchangeCell, for caller: ExchangeCell, _ out: inout Outbox) {
        lastFlow = out.nextFlow()
        call.exchange.log.capture.begin(
            lastFlow, parent: caller.exchange.log.capture.id, caller.exchange.engine.settings.disclosure.capture,
            out.now)
    }

    /// The exchange whose record the stage belongs to; a new one where there is none.
    mutating func recorded(_ out: inout Outbox) -> ExchangeCell {
        if let cell = current, !cell.exchange.isReading { return cell }
        let cell = current ?? begin(&out)
        // no request stands behind it, least of all the one whose place it took
        cell.exchange.request = RequestHead()
        startRecord(of: cell, &out)
        return cell
    }

    // MARK: the end

    /// The client has closed its side and nothing of it waits.
    var isLastOfClient: Bool { context.hasEnded && intake.pending.isEmpty && !intake.hasMore }

    /// Closes at once. With a reset when the client must not take what it has for complete.
    mutating func close(reset: Bool, _ out: inout Outbox) {
        cutAll(reset: reset, &out)
        finishClosing(reset: reset, &out)
    }

    /// Closes so that the client has a while to take what it was told last: to speak to a socket that is closed makes a reset,
    /// which takes that along. Not for a client that speaks HTTP/1.
    mutating func closeStreams(_ out: inout Outbox) {
        cutAll(reset: false, &out)
        endAll(&out)
        linger(&out)
    }

    private mutating func cutAll(reset: Bool, _ out: inout Outbox) {
        for cell in cells where !cell.exchange.isOver {
            if cell.exchange.isReading { continue }
            cell.exchange.cut(reset: reset, &out)
            orderRecord(of: cell, &out)
        }
    }

    mutating func finishClosing(reset: Bool, _ out: inout Outbox) {
        endAll(&out)
        enter(.closed, until: out.now + engine.settings.timeouts.idle)
        out.orders.append(.closeClient(reset: reset))
    }

    /// What is under way beside the client's exchanges, and what they held.
    private mutating func endAll(_ out: inout Outbox) {
        calls.end(&out)
        cells.removeAll { $0.exchange.isReading }
        relays.stop()
        context.share?.letGo()
    }

    /// No more is read; the client has a while to take its last answer.
    private mutating func linger(_ out: inout Outbox) {
        intake.pending = []
        enter(context.hasEnded ? .closed : .lingering, until: out.now + engine.settings.timeouts.idle)
        out.orders.append(context.hasEnded ? .closeClient(reset: false) : .finishClient)
        intake.isPaused = false
    }

    /// The client has its answer: makes ready for the next request, or lingers.
    mutating func finish(_ cell: ExchangeCell, _ out: inout Outbox) {
        if let stream = cell.stream { return finish(cell, on: stream, isWhole: true, &out) }
        out.orders.append(.record(cell.exchange.id))
        context.share?.letGo(of: cell.exchange.id)
        relays.stop()
        if codec.isLast || isLastOfClient || !codec.isComplete { return linger(&out) }
        if let next { putInForce(next.engine) }
        codec.next()
        enter(.serving, until: out.now + engine.settings.timeouts.idle)
        if !intake.pending.isEmpty { orderProceed(&out) } else { intake.isPaused = false }
    }

    mutating func orderProceed(_ out: inout Outbox) {
        intake.proceeding = .ordered
        out.orders.append(.proceed)
    }
}
