internal import Authorization
public import HTTPCodec
import Interception
internal import TLSEngine

/// A client's connection as a state machine: what comes before HTTP, HTTP, and tunnels. Bytes, ends, outcomes and times come in;
/// bytes and orders go out through the outbox.
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

    /// The HTTP of the connection, in each stage.
    public var http: HTTPConnection
    private(set) var stage = Stage.serving
    /// The time by which a stage other than `serving` must end.
    private var limit = Int.max
    /// The CONNECT that is being answered.
    var tunnel = Tunnel()

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
        let context = ClientContext(stores: stores, source: source, name: client, share: share)
        http = HTTPConnection(engine, context, ServerCodec(streams), now: now)
        if source.policy != nil {
            enter(.preface, until: now + engine.settings.timeouts.header)
        } else if source.isSecure {
            enter(.awaitingHello(begun: false), until: now + engine.settings.timeouts.idle)
        }
    }

    // MARK: state

    public var isClosed: Bool { if case .closed = stage { true } else { false } }

    public var isTunnel: Bool { if case .tunnel = stage { true } else { false } }

    /// Whether no byte of the client is used any more.
    var isOver: Bool {
        switch stage {
        case .lingering, .closed: true
        case .preface, .awaitingHello, .securing, .serving, .connect, .tunnel: false
        }
    }

    /// Whether the connection is between two requests and may close without loss.
    public var isIdle: Bool {
        guard http.intake.isEmpty, http.exchanges.calls.isEmpty else { return false }
        switch stage {
        case .awaitingHello: return true
        case .serving: return awaitsRequest
        case .preface, .securing, .connect, .tunnel, .lingering, .closed: return false
        }
    }

    /// Whether the next request has not begun or is incomplete.
    public var awaitsRequest: Bool {
        guard case .serving = stage else { return false }
        return !http.isBusy
    }

    /// Whether a request's head has come, and nothing of its body.
    public var awaitsBody: Bool {
        guard case .serving = stage, !http.codec.isComplete, let cell = http.exchanges.current else { return false }
        return !cell.exchange.isReading && cell.exchange.body.count == 0
    }

    /// Whether to read from the client now.
    public var readsClient: Bool {
        if http.context.hasEnded || http.intake.isPaused { return false }
        // a client with a full queue gets no further responses
        if http.isClientFull, http.codec.isMultiplexed || awaitsRequest { return false }
        // each stream has its own flow-control window
        if http.codec.isMultiplexed { return true }
        return !http.exchanges.isOriginFull
    }

    /// Queued bytes above which the queue's sender is not read until the queue is empty.
    public static var highWater: Int { Endpoint.highWater }

    // MARK: stages

    /// The time by which the stage must end unless an exchange sets it, in milliseconds of the loop's clock.
    public var deadline: Int { if case .serving = stage { http.deadline } else { limit } }

    mutating func enter(_ stage: Stage, until time: Int? = nil) {
        self.stage = stage
        if let time { wait(until: time) }
    }

    mutating func wait(until time: Int) { if case .serving = stage { http.wait(until: time) } else { limit = time } }

    /// Does what follows from the events of HTTP.
    mutating func follow(_ out: inout Outbox) {
        while let sequel = http.sequel {
            http.sequel = nil
            switch sequel {
            case .read: drainPending(&out)
            case .connect(let cell): beginTunnel(of: cell, &out)
            case .tunnel(let id): openTunnel(id, &out)
            case .linger: linger(&out)
            case .close(let reset): close(reset: reset, &out)
            }
        }
    }

    // MARK: the end

    /// Closes at once. With a reset when the client must not take what it has for complete.
    mutating func close(reset: Bool, _ out: inout Outbox) {
        http.end(reset: reset, &out)
        enter(.closed, until: out.now + http.engine.settings.timeouts.idle)
        tunnel.end()
        out.orders.append(.closeClient(reset: reset))
    }

    /// Reads no more requests; the client has a while to read its last response.
    private mutating func linger(_ out: inout Outbox) {
        let hasEnded = http.context.hasEnded
        http.intake.discard()
        enter(hasEnded ? .closed : .lingering, until: out.now + http.engine.settings.timeouts.idle)
        out.orders.append(hasEnded ? .closeClient(reset: false) : .finishClient)
        http.intake.resume()
    }

    /// Answers with an error, behind which no request is read.
    mutating func answer(_ error: ProxyError, in cell: ExchangeCell, _ out: inout Outbox) {
        enter(.serving)
        cell.exchange.answer(error, isLast: true, &out)
        http.settle(cell, &out)
        follow(&out)
    }

    /// Closes without an answer, for a reason that is recorded.
    mutating func fail(_ moment: ExchangeMoment, _ out: inout Outbox) {
        let cell = http.recorded(&out)
        cell.exchange.log.tell(moment, out.now)
        cell.exchange.stage.enter(.tunnelling)
        close(reset: false, &out)
    }
}
