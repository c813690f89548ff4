import HTTP1
import HTTP2
import HTTPCodec

/// Turns the bytes of a client's connection into messages and back, by stream. HTTP/1 has one stream, which carries one exchange
/// after another. Only what chooses the version asks for it; everybody else asks for a capability.
///
/// It is a struct because an enum's payload cannot be changed in place: each message would move the state of HTTP/1 twice.
struct ServerCodec: ~Copyable {
    private var http1 = HTTP1Server()
    private var http2: (any StreamServer)?

    /// The stream of HTTP/1.
    static let only = StreamID(0)

    /// - Parameter streams: what reads and writes from the first byte on, where that is not HTTP/1.
    init(_ streams: (any StreamServer)? = nil) { http2 = streams }

    /// HTTP/2 is spoken from here on.
    mutating func startHTTP2(_ engine: Engine, _ windows: WindowBudget) {
        http2 = HTTP2Server(maxStreams: engine.settings.http2.streams, limits: engine.headLimits, budget: windows)
    }

    // MARK: capabilities

    /// It carries many exchanges at a time, with a window each. Where it does not, bytes wait until the exchange wants them.
    var isMultiplexed: Bool { http2 != nil }

    /// The next bytes of the request's body that may pass as they are; nil where they have to be read.
    var rawRequestBody: UInt64? { http2 == nil ? http1.rawBody : nil }

    /// Bytes of the response's body may pass as they are.
    var writesRaw: Bool { http2 == nil && http1.writesRaw }

    /// So many bytes of the request's body passed as they are.
    mutating func passed(_ count: UInt64) { http1.passed(count) }

    // MARK: requests

    /// Reads what comes next.
    /// - Parameter head: takes the head of a request where there is one stream; else `takeHead` does.
    /// - Throws: an `HTTPFault` where the request breaks its framing, or, with many streams, where the connection cannot go on.
    mutating func read(
        _ bytes: Span<UInt8>, _ position: inout Int, into head: ExchangeCell?, _ engine: Engine, _ out: inout Outbox
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

    /// Puts the head that was read last where it belongs.
    func takeHead(into head: inout RequestHead) { if let http2 { swap(&http2.head, &head) } }

    /// Starts with the request whose head was read.
    /// - Parameter framing: how its body comes, where the event said so.
    /// - Throws: an `HTTPFault` where the framing of HTTP/1 is ambiguous or may not be.
    mutating func begin(
        _ head: borrowing RequestHead, _ framing: BodyFraming, maxTrailerBytes: Int
    ) throws(HTTPFault) -> BodyFraming {
        http2 == nil ? try http1.begin(head, maxTrailerBytes: maxTrailerBytes) : framing
    }

    /// The request of the only stream has come whole.
    var isComplete: Bool { http2 != nil || http1.isComplete }

    /// Of the request whose end was read last.
    var trailers: [UInt8] { http2 == nil ? http1.trailers : http2?.trailers ?? [] }

    /// Gives up a head that did not come whole: the answer to it is the last.
    mutating func giveUpHead() { http1.giveUpHead() }

    /// So many bytes of a request's body were used: the client may send as many more.
    func used(_ count: Int, of stream: StreamID, _ out: inout Outbox) {
        http2?.used(count, of: stream, to: &out.client)
    }

    // MARK: the order of messages

    /// No request is read after this one.
    var isLast: Bool { http1.isLast }

    /// No request is read after the one that is under way on the only stream.
    mutating func endAfterThis() { http1.endAfterThis() }

    /// A request may follow, whatever was said of the connection before.
    mutating func keepOpen() { http1.keepOpen() }

    /// The exchange is over, and another request may come.
    mutating func next() { http1.next() }

    // MARK: responses

    func interim(_ head: borrowing ResponseHead, via: [UInt8], on stream: StreamID, _ out: inout Outbox) {
        guard let http2 else { return http1.interim(head, via: via, to: &out.client) }
        http2.interim(head, via: via, on: stream, to: &out.client)
    }

    mutating func respond(
        _ head: borrowing ResponseHead, _ framing: BodyFraming, _ manner: consuming ResponseManner,
        on stream: StreamID, _ out: inout Outbox
    ) {
        guard let http2 else { return http1.respond(head, framing, manner, to: &out.client) }
        // what is wrong with one request says nothing of the others
        (manner.isLast, manner.closes) = (false, false)
        http2.respond(head, framing, manner, on: stream, to: &out.client)
    }

    /// Writes the head behind which the stream carries no message.
    func switching(_ head: borrowing ResponseHead, via: [UInt8], on stream: StreamID, _ out: inout Outbox) {
        guard let http2 else { return http1.switching(head, via: via, to: &out.client) }
        var manner = ResponseManner()
        manner.via = via
        http2.respond(head, .none, manner, on: stream, to: &out.client)
    }

    /// - Returns: false where no body may follow the head: these bytes go nowhere.
    func write(_ bytes: Span<UInt8>, on stream: StreamID, _ out: inout Outbox) -> Bool {
        if let http2 { return http2.write(bytes, on: stream, to: &out.client) }
        http1.write(bytes, to: &out.client)
        return !http1.writesNothing
    }

    mutating func end(trailers: [UInt8], on stream: StreamID, _ out: inout Outbox) {
        guard let http2 else { return http1.end(trailers: trailers, to: &out.client) }
        http2.end(trailers: trailers, on: stream, to: &out.client)
    }

    /// Writes what is no message. A stream among others carries messages alone.
    /// - Returns: false where it goes nowhere.
    func writeRaw(_ bytes: [UInt8], _ out: inout Outbox) -> Bool {
        guard http2 == nil else { return false }
        out.client += bytes
        return true
    }

    // MARK: streams

    /// Ends a stream. What was written whole still goes out.
    func reset(_ stream: StreamID, _ reason: StreamReset, _ out: inout Outbox) {
        http2?.reset(stream, reason, to: &out.client)
    }

    /// Bytes that wait for the client's window.
    func waiting(on stream: StreamID) -> Int { http2?.waiting(on: stream) ?? 0 }

    /// Appends what was written and kept.
    func flush(_ out: inout Outbox) { http2?.flush(to: &out.client) }

    /// Tells the client which stream was the last, where there are many: it may send again what crosses with that.
    func sayGoodbye(_ out: inout Outbox) { http2?.leave(to: &out.client) }

    /// What there was to count since this was asked last.
    func takeTally() -> StreamTally { http2?.takeTally() ?? StreamTally() }

    /// Gives back memory that only messages need.
    func rest() { http2?.rest() }
}
