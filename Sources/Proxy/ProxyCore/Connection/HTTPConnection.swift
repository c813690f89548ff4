public import Addresses
public import HTTPCodec
import Interception

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
    public var exchanges = ExchangeTable()
    var intake = ClientIntake()
    /// What is relayed unread.
    public internal(set) var relays = Relays()
    /// The queue of bytes for the client.
    var client = Endpoint()
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

    /// Whether the client has ended its sending side.
    public var clientHasEnded: Bool { context.hasEnded }

    /// Whether the client's queue is full, so that no origin is read.
    public var isClientFull: Bool { client.queue == .full }

    /// The client's network, by which clients are counted.
    public var clientNetwork: AddressBlock? { context.source.address?.clientNetwork }

    /// The id of the test session of all requests; nil for none, or when each request may name its own.
    public var testSession: String? { context.testSession ?? context.source.testSession }

    /// The stream counts since the last call.
    public func takeTally() -> StreamTally { codec.takeTally() }

    /// Whether the connection multiplexes exchanges.
    public var carriesMany: Bool { codec.isMultiplexed }

    /// Whether an exchange is under way, or the client has yet to take a response.
    var isBusy: Bool { exchanges.isBusy || remains.areUntaken(codec) }

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
        if codec.isLast || context.hasEnded && !intake.hasMore || !codec.isComplete { return sequel = .linger }
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
