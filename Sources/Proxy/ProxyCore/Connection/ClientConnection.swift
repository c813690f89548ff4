internal import Authorization
public import HTTPCodec
import Interception
internal import TLSEngine

/// A client's connection as a state machine: what comes before HTTP, HTTP, and tunnels. Bytes, ends, outcomes and times come in;
/// bytes and commands go out through the command buffer.
/// It has no socket and no clock: every call passes the time, in milliseconds of one monotonic clock.
public struct ClientConnection: ~Copyable {
    /// The HTTP of the connection, in each stage.
    public var http: HTTPConnection
    var stage = ClientStage()
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
            stage.enter(.preface, until: now + engine.settings.timeouts.header)
        } else if source.isSecure {
            stage.enter(.awaitingHello(begun: false), until: now + engine.settings.timeouts.idle)
        }
    }

    // MARK: state

    public var isClosed: Bool { stage.isClosed }

    public var isTunnel: Bool { stage.isTunnel }

    /// Whether the connection is between two requests and may close without loss.
    public var isIdle: Bool {
        guard http.intake.isEmpty, http.exchanges.calls.isEmpty else { return false }
        switch stage.state {
        case .awaitingHello: return true
        case .serving: return awaitsRequest
        case .preface, .securing, .connect, .tunnel, .lingering, .closed: return false
        }
    }

    /// Whether the next request has not begun or is incomplete.
    public var awaitsRequest: Bool {
        guard case .serving = stage.state else { return false }
        return !http.isBusy
    }

    /// Whether a request's head has come, and nothing of its body.
    public var awaitsBody: Bool {
        guard case .serving = stage.state, !http.codec.isComplete, let cell = http.exchanges.current else {
            return false
        }
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
    public var deadline: Int { stage.isServing ? http.deadline : stage.deadline }

    /// Does what follows from the events of HTTP.
    mutating func follow(_ out: inout CommandBuffer) {
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
    mutating func close(reset: Bool, _ out: inout CommandBuffer) {
        http.end(reset: reset, &out)
        stage.enter(.closed, until: out.now + http.engine.settings.timeouts.idle)
        tunnel.end()
        out.commands.append(.closeClient(reset: reset))
    }

    /// Reads no more requests; the client has a while to read its last response.
    private mutating func linger(_ out: inout CommandBuffer) {
        let hasEnded = http.context.hasEnded
        http.intake.discard()
        stage.enter(hasEnded ? .closed : .lingering, until: out.now + http.engine.settings.timeouts.idle)
        out.commands.append(hasEnded ? .closeClient(reset: false) : .finishClient)
        http.intake.resume()
    }

    /// Answers with an error, behind which no request is read.
    mutating func answer(_ error: ProxyError, in cell: ExchangeCell, _ out: inout CommandBuffer) {
        stage.enter(.serving)
        cell.exchange.answer(error, isLast: true, &out)
        http.settle(cell, &out)
        follow(&out)
    }

    /// Closes without an answer, for a reason that is recorded.
    mutating func fail(_ event: LogEvent, _ out: inout CommandBuffer) {
        let cell = http.exchanges.recorded(http.engine, http.context, &out)
        cell.exchange.log.tell(event, out.now)
        cell.exchange.info.stage.enter(.tunnelling)
        close(reset: false, &out)
    }
}
