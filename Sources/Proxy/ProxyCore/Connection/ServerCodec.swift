import HTTP1
import HTTP2
import HTTPCodec

/// Converts the bytes of a client's connection to messages and back, by stream. HTTP/1 has one stream, which carries one exchange
/// after another. Only version negotiation asks for the version; all other code asks for a capability.
///
/// A struct, because an enum's payload cannot be changed in place: each message would move the state of HTTP/1 twice.
struct ServerCodec: ~Copyable {
    private var http1 = HTTP1Server()
    private var http2: (any StreamServer)?

    /// The only stream of HTTP/1.
    static let only = StreamID(0)

    /// - Parameter streams: the codec from the first byte on, if it is not HTTP/1.
    init(_ streams: (any StreamServer)? = nil) { http2 = streams }

    /// Switches to HTTP/2.
    mutating func startHTTP2(_ engine: Engine, _ windows: WindowBudget) {
        http2 = HTTP2Server(maxStreams: engine.settings.http2.streams, limits: engine.headLimits, budget: windows)
    }

    // MARK: capabilities

    /// Whether the connection multiplexes exchanges, each with a window. Otherwise bytes wait until the exchange wants them.
    var isMultiplexed: Bool { http2 != nil }

    /// How many of the next body bytes may be relayed unread; nil when they must be parsed.
    var rawRequestBody: UInt64? { http2 == nil ? http1.rawBody : nil }

    /// Whether body bytes of the response may be relayed unread.
    var writesRaw: Bool { http2 == nil && http1.writesRaw }

    /// Counts body bytes of the request that were relayed unread.
    mutating func passed(_ count: UInt64) { http1.passed(count) }

    // MARK: requests

    /// Reads the next event.
    /// - Parameter head: receives the request's head on a connection with one stream; otherwise call `takeHead`.
    /// - Throws: an `HTTPFault` when a request's framing is invalid or, if multiplexed, when the connection cannot continue.
    mutating func read(
        _ bytes: Span<UInt8>, _ position: inout Int, into head: ExchangeCell?, _ engine: Engine,
        _ out: inout CommandBuffer
    ) throws(HTTPFault) -> StreamServerEvent {
        if let http2 {
            return try http2.read(
                bytes, &position, now: out.now, limits: engine.headLimits,
                maxTrailerBytes: engine.settings.limits.header, to: &out.client)
        }
        if let head, head.exchange.isReading { return readHead(bytes, &position, into: head, engine.headLimits) }
        switch try http1.readBody(bytes, &position) {
        case .data(let range): return .data(Self.only, range)
        case .end: return .end(Self.only)
        case .needsMore: return .needsMore
        }
    }

    private mutating func readHead(
        _ bytes: Span<UInt8>, _ position: inout Int, into cell: ExchangeCell, _ limits: HeadLimits
    ) -> StreamServerEvent {
        do throws(HTTPFault) {
            guard
                let used = try http1.readHead(
                    bytes.extracting(position...), into: &cell.exchange.request, limits: limits)
            else { return .needsMore }
            position += used
            return .head(Self.only, .none)
        } catch {
            position = bytes.count
            http1.giveUpHead()
            return .broken(Self.only, error)
        }
    }

    /// Moves the head that was read last to `head`.
    func takeHead(into head: inout RequestHead) { if let http2 { swap(&http2.head, &head) } }

    /// Starts the request whose head was read.
    /// - Parameter framing: the framing of the body, if the event gave it.
    /// - Throws: an `HTTPFault` when the HTTP/1 framing is ambiguous or forbidden.
    mutating func begin(
        _ head: borrowing RequestHead, _ framing: BodyFraming, maxTrailerBytes: Int
    ) throws(HTTPFault) -> BodyFraming {
        http2 == nil ? try http1.begin(head, maxTrailerBytes: maxTrailerBytes) : framing
    }

    /// Whether the request is complete; always true if multiplexed.
    var isComplete: Bool { http2 != nil || http1.isComplete }

    /// The trailers of the request that ended last.
    var trailers: [UInt8] { http2 == nil ? http1.trailers : http2?.trailers ?? [] }

    /// Gives up an incomplete head; the response to it is the last.
    mutating func giveUpHead() { http1.giveUpHead() }

    /// Counts used body bytes of a request and lets the client send as many more.
    func used(_ count: Int, of stream: StreamID, _ out: inout CommandBuffer) {
        http2?.used(count, of: stream, to: &out.client)
    }

    // MARK: the order of messages

    /// Whether no request is read after this one.
    var isLast: Bool { http1.isLast }

    /// Reads no request after the current one (HTTP/1).
    mutating func endAfterThis() { http1.endAfterThis() }

    /// Allows further requests on the connection again.
    mutating func keepOpen() { http1.keepOpen() }

    /// Prepares for the next request after an exchange.
    mutating func next() { http1.next() }

    // MARK: responses

    func interim(_ head: borrowing ResponseHead, via: [UInt8], on stream: StreamID, _ out: inout CommandBuffer) {
        guard let http2 else { return http1.interim(head, via: via, to: &out.client) }
        http2.interim(head, via: via, on: stream, to: &out.client)
    }

    mutating func respond(
        _ head: borrowing ResponseHead, _ framing: BodyFraming, _ manner: consuming ResponseManner,
        on stream: StreamID, _ out: inout CommandBuffer
    ) {
        guard let http2 else { return http1.respond(head, framing, manner, to: &out.client) }
        // an error in one request does not affect the other streams
        (manner.isLast, manner.closes) = (false, false)
        http2.respond(head, framing, manner, on: stream, to: &out.client)
    }

    /// Writes the head after which the stream carries another protocol.
    func switching(_ head: borrowing ResponseHead, via: [UInt8], on stream: StreamID, _ out: inout CommandBuffer) {
        guard let http2 else { return http1.switching(head, via: via, to: &out.client) }
        var manner = ResponseManner()
        manner.via = via
        http2.respond(head, .none, manner, on: stream, to: &out.client)
    }

    /// - Returns: false when no body may follow the head, so that the bytes are dropped.
    func write(_ bytes: Span<UInt8>, on stream: StreamID, _ out: inout CommandBuffer) -> Bool {
        if let http2 { return http2.write(bytes, on: stream, to: &out.client) }
        http1.write(bytes, to: &out.client)
        return !http1.writesNothing
    }

    mutating func end(trailers: [UInt8], on stream: StreamID, _ out: inout CommandBuffer) {
        guard let http2 else { return http1.end(trailers: trailers, to: &out.client) }
        http2.end(trailers: trailers, on: stream, to: &out.client)
    }

    /// Writes raw bytes. A multiplexed connection carries only messages.
    /// - Returns: false when the bytes are dropped.
    func writeRaw(_ bytes: [UInt8], _ out: inout CommandBuffer) -> Bool {
        guard http2 == nil else { return false }
        out.client += bytes
        return true
    }

    // MARK: streams

    /// Resets a stream. Complete frames still go out.
    func reset(_ stream: StreamID, _ reason: StreamReset, _ out: inout CommandBuffer) {
        http2?.reset(stream, reason, to: &out.client)
    }

    /// The number of bytes that wait for the client's flow-control window.
    func waiting(on stream: StreamID) -> Int { http2?.waiting(on: stream) ?? 0 }

    /// Appends frames that were kept back.
    func flush(_ out: inout CommandBuffer) { http2?.flush(to: &out.client) }

    /// Sends GOAWAY with the last stream on HTTP/2: the client may send requests after that one again.
    func sayGoodbye(_ out: inout CommandBuffer) { http2?.leave(to: &out.client) }

    /// The stream counts since the last call.
    func takeTally() -> StreamTally { http2?.takeTally() ?? StreamTally() }

    /// Releases memory that only open messages need.
    func rest() { http2?.rest() }
}
