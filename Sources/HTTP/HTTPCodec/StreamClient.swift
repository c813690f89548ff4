/// The client's side of a connection with streams (HTTP/2): it writes requests and parses responses. It respects its peer's
/// windows, buffers bytes that exceed them, and does no I/O.
///
/// `HTTP1Client` is the codec of connections without streams.
public protocol StreamClient: AnyObject {
    /// The head that `read` reported last. The caller may swap it out to keep it.
    var head: ResponseHead { get set }
    /// The trailers of the response whose end `read` reported last.
    var trailers: [UInt8] { get }
    /// Another stream may be begun by now.
    var hasRoom: Bool { get }
    /// Whether another stream may start later, as far as the peer has told.
    var isReusable: Bool { get }
    /// The peer's terms for streams; nil before they are known.
    var terms: StreamTerms? { get }
    /// The reason of the peer's graceful close; nil before it starts one.
    var goAwayCode: StreamErrorCode? { get }
    /// Returns the counts since the last call, mainly of streams that the peer refused.
    func takeTally() -> StreamTally

    /// Reserves a stream; nil if there is no room.
    func begin() -> StreamID?
    /// Writes the head of a request and makes ready for its body and for the response.
    func send(
        _ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, on stream: StreamID, to out: inout [UInt8])
    func write(_ bytes: Span<UInt8>, on stream: StreamID, to out: inout [UInt8])
    func end(trailers: [UInt8], on stream: StreamID, to out: inout [UInt8])
    /// Ends reading and writing on the stream. Without effect if both messages are complete.
    func reset(_ stream: StreamID, to out: inout [UInt8])

    /// Returns the next event in `input` from `position` on, and advances `position`. An incomplete frame is stored here.
    /// - Parameters:
    ///   - now: monotonic milliseconds, to limit the rate of frames that belong to no message.
    ///   - out: takes the codec's own frames, and data that a wider window releases.
    /// - Throws: an `HTTPFault` if the connection cannot go on. The peer has been informed.
    func read(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8]
    ) throws(HTTPFault) -> StreamClientEvent

    /// Records that so many bytes of a response body were used, so that the peer may send as many more. Also for an ended
    /// stream, whose bytes count for the connection's window.
    func used(_ count: Int, of stream: StreamID, to out: inout [UInt8])
    /// The bytes that wait for the peer's window. The writer must pause while there are many.
    func waiting(on stream: StreamID) -> Int
    /// Gives back memory that only messages need: the next one will be a while.
    func rest()
    /// Asks the peer for a sign of life: `pong` tells of it.
    func ping(to out: inout [UInt8])
}

/// An event on the client's side of a connection with streams.
public enum StreamClientEvent: Equatable, Sendable {
    case needsMore
    case response(StreamID, ResponseEvent)
    /// A response is invalid. The stream must not be used further.
    case broken(StreamID, HTTPFault)
    /// The peer gave the stream up. Where it refused it, it did nothing with the request, which may be sent again elsewhere,
    /// whatever its method (RFC 9113 §8.7).
    case reset(StreamID, StreamErrorCode)
    /// A ping was answered.
    case pong
    /// No data of the stream waits for the peer's window any more.
    case drained(StreamID)
}
