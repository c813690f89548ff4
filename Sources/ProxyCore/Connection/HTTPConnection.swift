public import Addresses
public import HTTPCodec
public import Interception

/// The HTTP of a client's connection: reads requests, runs their exchanges and the calls of their filters, and writes the
/// responses. What follows for the connection as a whole it leaves to `ClientConnection`.
public struct HTTPConnection: ~Copyable {
    /// What follows for the connection.
    enum Sequel {
        /// The bytes that were kept may be read now.
        case read
        /// CONNECT is to be answered.
        case connect(ExchangeCell)
        /// The exchange's bytes are relayed unread from here on.
        case tunnel(ExchangeID)
        /// No request is read any more; the client has a while to read its last response.
        case linger
        case close(reset: Bool)
    }

    /// A generation of the configuration that waits for the end of an exchange.
    struct NextGeneration {
        let engine: Engine
        /// It still admits the client and its tunnel.
        let isKept: Bool
    }

    private(set) var engine: Engine
    /// Replaces `engine` when the exchange is over.
    var next: NextGeneration?
    /// The time by which the next request must come, in milliseconds of the loop's clock.
    private(set) var deadline: Int
    var context: ClientContext
    var codec: ServerCodec
    var remains = StreamRemains()
    var exchanges = ExchangeTable()
    var intake = ClientIntake()
    var relays = Relays()
    /// The queue of bytes for the client.
    var client = Endpoint()
    /// The id of the last flow.
    public private(set) var lastFlow: UInt64 = 0
    var sequel: Sequel?

    init(_ engine: Engine, _ context: ClientContext, _ codec: consuming ServerCodec, now: Int) {
        self.engine = engine
        self.context = context
        self.codec = codec
        deadline = now + engine.settings.timeouts.idle
    }

    mutating func wait(until time: Int) { deadline = time }

    /// Restarts the timeout for the next request.
    mutating func waitIdle(_ now: Int) { wait(until: now + engine.settings.timeouts.idle) }

    // MARK: state

    /// Whether calls without a caller are under way, which run to their end even if the client is gone.
    public var hasOrphans: Bool { exchanges.calls.hasOrphans }

    /// Whether the client has ended its sending side.
    public var clientHasEnded: Bool { context.hasEnded }

    /// Whether the client's queue is full, so that no origin is read.
    public var isClientFull: Bool { client.queue == .full }

    /// The client's network, by which clients are counted.
    public var clientNetwork: AddressBlock? { context.source.address?.clientNetwork }

    /// The number of exchanges under way, including the calls of Usher's own logins.
    public var exchangesUnderWay: Int { exchanges.count }

    /// The number of streams with an exchange under way.
    public var openStreams: Int { exchanges.openStreams }

    /// The stream counts since the last call.
    public func takeTally() -> StreamTally { codec.takeTally() }

    /// Whether the connection multiplexes exchanges.
    public var carriesMany: Bool { codec.isMultiplexed }

    /// Whether an exchange is under way, or the client has yet to take a response.
    var isBusy: Bool { exchanges.isBusy || remains.areUntaken(codec) }

    /// Whether the client has ended and none of its bytes wait.
    private var isLastOfClient: Bool { context.hasEnded && !intake.hasMore }

    // MARK: what is relayed unread

    /// The exchange whose bytes are relayed unread.
    public var relayed: ExchangeID? { relays.exchange }

    /// Whether bytes from that side are relayed unread.
    /// - Parameter id: the exchange of the origin that sends them.
    public func isRelaying(from side: ConnectionSide, of id: ExchangeID? = nil) -> Bool { relays.rest(side, id) > 0 }

    /// How many of `count` bytes from that side to relay unread. Once they are sent, call `relayed…`.
    public func relays(_ count: Int, from side: ConnectionSide, of id: ExchangeID? = nil) -> Int {
        Int(min(relays.rest(side, id), UInt64(count)))
    }

    // MARK: records

    /// Takes the record of an exchange that is over.
    public mutating func takeRecord(
        of id: ExchangeID, _ out: inout CommandBuffer, _ take: (borrowing ExchangeRecord) -> Void
    ) {
        guard let cell = exchanges.take(id) else { return }
        Self.show(&cell.exchange.log.record, take)
        out.keep(cell)
        out.giveBack(cell)
    }

    /// - Parameter record: read in place, to save reference counting.
    private static func show(_ record: inout ExchangeRecord, _ take: (borrowing ExchangeRecord) -> Void) {
        take(record)
    }

    /// Starts the record of the exchange.
    mutating func startRecord(of cell: ExchangeCell, _ out: inout CommandBuffer) {
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
    mutating func recorded(_ out: inout CommandBuffer) -> ExchangeCell {
        if let cell = exchanges.current, !cell.exchange.isReading { return cell }
        let cell = exchanges.current ?? exchanges.begin(engine, &out)
        // the record has no request, and must not show that of the cell's previous exchange
        cell.exchange.request = RequestHead()
        startRecord(of: cell, &out)
        return cell
    }

    // MARK: the end

    /// Ends all exchanges. With a reset when the client must not take what it has for complete.
    mutating func end(reset: Bool, _ out: inout CommandBuffer) {
        exchanges.cut(reset: reset, &out)
        // ends the calls and the exchanges whose head is incomplete
        exchanges.end(&out)
        relays.stop()
        context.share?.letGo()
    }

    /// Ends a multiplexed connection and leaves the client time to read the last frames: further bytes to a closed socket
    /// cause a reset, which discards them. Not for HTTP/1.
    mutating func endStreams(_ out: inout CommandBuffer) {
        end(reset: false, &out)
        sequel = .linger
    }

    /// The response is complete: prepares for the next request, unless there is none.
    mutating func finish(_ cell: ExchangeCell, _ out: inout CommandBuffer) {
        if let stream = cell.stream { return finish(cell, on: stream, isWhole: true, &out) }
        out.commands.append(.record(cell.exchange.id))
        context.share?.letGo(of: cell.exchange.id)
        relays.stop()
        if codec.isLast || isLastOfClient || !codec.isComplete { return sequel = .linger }
        if let next { putInForce(next.engine) }
        codec.next()
        waitIdle(out.now)
        if !intake.isEmpty { intake.orderProceed(&out) } else { intake.resume() }
    }

    mutating func putInForce(_ engine: Engine) {
        next = nil
        self.engine = engine
        exchanges.adopt(engine)
        // requests in the tunnel take the new route to its target
        context.tunnel.change { $0.route = engine.tunnelRoute(to: $0.host) }
    }
}
