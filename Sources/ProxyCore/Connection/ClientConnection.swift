internal import Authorization
public import HTTPCodec
public import Interception
internal import TLSEngine

/// A client's connection as a state machine: the bytes before HTTP, the codec that reads and writes messages, the
/// exchanges, and tunnels. Bytes, ends, outcomes and times come in; bytes and orders go out through the outbox.
/// It has no socket and no clock: every call passes the time, in milliseconds of one monotonic clock.
public struct ClientConnection: ~Copyable {
    enum Stage {
        /// A balancer's connection: the PROXY protocol header comes first.
        case preface
        /// The listener speaks TLS, and the ClientHello is missing or incomplete.
        case awaitingHello(begun: Bool)
        /// The client's TLS handshake is under way: in a tunnel, or with the listener.
        case securing
        /// HTTP: an exchange is under way, or the next request is awaited.
        case serving
        /// CONNECT: what the tunnel carries is not known yet.
        case connect
        /// A tunnel is relayed unread.
        case tunnel(ExchangeID)
        /// The last response has gone out; further bytes of the client are discarded.
        case lingering
        case closed
    }

    /// A generation of the configuration that waits for the end of an exchange.
    struct NextGeneration {
        let engine: Engine
        /// It still admits the client and its tunnel.
        let isKept: Bool
    }

    var engine: Engine
    /// Replaces `engine` when the exchange is over.
    var next: NextGeneration?
    private(set) var stage = Stage.serving
    /// The time by which the stage must end unless an exchange sets it, in milliseconds of the loop's clock.
    public private(set) var deadline: Int
    var context: ClientContext
    var codec: ServerCodec
    var remains = StreamRemains()
    var exchanges = ExchangeTable()
    var intake = ClientIntake()
    var relays = Relays()
    /// The CONNECT that is being answered.
    var tunnel = Tunnel()
    /// The queue of bytes for the client.
    var client = Endpoint()
    /// The id of the last flow.
    public private(set) var lastFlow: UInt64 = 0

    /// - Parameters:
    ///   - client: the client's address, for the record.
    ///   - source: the client's address as a value, and how far to trust it.
    ///   - share: the connection's part of its client's share.
    ///   - streams: the codec of the client's side when it does not speak HTTP/1.
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

    // MARK: state

    public var isClosed: Bool { if case .closed = stage { true } else { false } }

    /// Whether calls without a caller are under way, which run to their end even if the client is gone.
    public var hasOrphans: Bool { exchanges.calls.hasOrphans }

    /// Whether the connection is between two requests and may close without loss.
    public var isIdle: Bool {
        guard intake.isEmpty, exchanges.calls.isEmpty else { return false }
        switch stage {
        case .awaitingHello: return true
        case .serving: return awaitsRequest
        case .preface, .securing, .connect, .tunnel, .lingering, .closed: return false
        }
    }

    /// Whether the next request has not begun or is incomplete.
    public var awaitsRequest: Bool {
        guard case .serving = stage else { return false }
        return !isBusy
    }

    /// Whether a request's head has come, and nothing of its body.
    public var awaitsBody: Bool {
        guard !codec.isComplete, case .serving = stage, let cell = exchanges.current else { return false }
        return !cell.exchange.isReading && cell.exchange.body.count == 0
    }

    /// Whether the client has ended its sending side.
    public var clientHasEnded: Bool { context.hasEnded }

    /// Takes the record of an exchange that is over.
    public mutating func takeRecord(
        of id: ExchangeID, _ out: inout Outbox, _ take: (borrowing ExchangeRecord) -> Void
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

    /// The exchange whose bytes are relayed unread.
    public var relayed: ExchangeID? { relays.exchange }

    /// Whether bytes from that side are relayed unread.
    /// - Parameter id: the exchange of the origin that sends them.
    public func isRelaying(from leg: Leg, of id: ExchangeID? = nil) -> Bool { relays.rest(leg, id) > 0 }

    /// How many of `count` bytes from that side to relay unread. Once they are sent, call `relayed…`.
    public func relays(_ count: Int, from leg: Leg, of id: ExchangeID? = nil) -> Int {
        Int(min(relays.rest(leg, id), UInt64(count)))
    }

    /// The number of exchanges under way, including the calls of Usher's own logins.
    public var exchangesUnderWay: Int { exchanges.count }

    /// The number of streams with an exchange under way.
    public var openStreams: Int { exchanges.openStreams }

    /// The stream counts since the last call.
    public func takeTally() -> StreamTally { codec.takeTally() }

    /// Whether the connection multiplexes exchanges.
    public var carriesMany: Bool { codec.isMultiplexed }

    // MARK: stages

    mutating func enter(_ stage: Stage, until time: Int) {
        self.stage = stage
        deadline = time
    }

    mutating func enter(_ stage: Stage) { self.stage = stage }

    mutating func wait(until time: Int) { deadline = time }

    // MARK: exchanges

    /// Starts the record of the exchange.
    mutating func startRecord(of cell: ExchangeCell, _ out: inout Outbox) {
        lastFlow = out.nextFlow()
        cell.exchange.log.record.reset(flow: lastFlow)
        cell.exchange.log.record.client = context.name
        if context.tunnel != nil { cell.exchange.log.record.user = context.user }
        cell.exchange.log.capture.began = out.now
        cell.exchange.log.capture.begin(lastFlow, cell.exchange.engine.settings.disclosure.capture, out.now)
    }

    /// Starts a flow for the call, as a part of its caller's flow.
    mutating func startFlow(of call: ExchangeCell, for caller: ExchangeCell, _ out: inout Outbox) {
        lastFlow = out.nextFlow()
        call.exchange.log.capture.begin(
            lastFlow, parent: caller.exchange.log.capture.id, caller.exchange.engine.settings.disclosure.capture,
            out.now)
    }

    /// The exchange that records the current stage; a new one if there is none.
    mutating func recorded(_ out: inout Outbox) -> ExchangeCell {
        if let cell = exchanges.current, !cell.exchange.isReading { return cell }
        let cell = exchanges.current ?? exchanges.begin(engine, &out)
        // the record has no request, and must not show that of the cell's previous exchange
        cell.exchange.request = RequestHead()
        startRecord(of: cell, &out)
        return cell
    }

    // MARK: the end

    /// Whether the client has ended and none of its bytes wait.
    var isLastOfClient: Bool { context.hasEnded && !intake.hasMore }

    /// Closes at once. With a reset when the client must not take what it has for complete.
    mutating func close(reset: Bool, _ out: inout Outbox) {
        cutAll(reset: reset, &out)
        finishClosing(reset: reset, &out)
    }

    /// Closes a multiplexed connection and leaves the client time to read the last frames: further bytes to a closed socket
    /// cause a reset, which discards them. Not for HTTP/1.
    mutating func closeStreams(_ out: inout Outbox) {
        cutAll(reset: false, &out)
        endAll(&out)
        linger(&out)
    }

    private mutating func cutAll(reset: Bool, _ out: inout Outbox) {
        for cell in exchanges.cells where !cell.exchange.isOver {
            if cell.exchange.isReading { continue }
            cell.exchange.cut(reset: reset, &out)
            orderRecord(of: cell, &out)
        }
    }

    mutating func finishClosing(reset: Bool, _ out: inout Outbox) {
        endAll(&out)
        enter(.closed, until: out.now + engine.settings.timeouts.idle)
        tunnel.end()
        out.orders.append(.closeClient(reset: reset))
    }

    /// Ends the calls and the exchanges whose head is incomplete, stops relays, and frees the held room.
    private mutating func endAll(_ out: inout Outbox) {
        exchanges.end(&out)
        relays.stop()
        context.share?.letGo()
    }

    /// Reads no more requests; the client has a while to read its last response.
    private mutating func linger(_ out: inout Outbox) {
        intake.discard()
        enter(context.hasEnded ? .closed : .lingering, until: out.now + engine.settings.timeouts.idle)
        out.orders.append(context.hasEnded ? .closeClient(reset: false) : .finishClient)
        intake.resume()
    }

    /// The response is complete: prepares for the next request, or lingers.
    mutating func finish(_ cell: ExchangeCell, _ out: inout Outbox) {
        if let stream = cell.stream { return finish(cell, on: stream, isWhole: true, &out) }
        out.orders.append(.record(cell.exchange.id))
        context.share?.letGo(of: cell.exchange.id)
        relays.stop()
        if codec.isLast || isLastOfClient || !codec.isComplete { return linger(&out) }
        if let next { putInForce(next.engine) }
        codec.next()
        enter(.serving, until: out.now + engine.settings.timeouts.idle)
        if !intake.isEmpty { orderProceed(&out) } else { intake.resume() }
    }

    mutating func orderProceed(_ out: inout Outbox) {
        intake.proceeding = .ordered
        out.orders.append(.proceed)
    }
}
