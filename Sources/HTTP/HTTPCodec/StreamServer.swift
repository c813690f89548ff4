/// The server's side of a connection with streams (HTTP/2): it parses requests and writes responses. It respects its peer's
/// windows, buffers bytes that exceed them, and does no I/O.
///
/// `HTTP1Server` is the codec of connections without streams.
public protocol StreamServer: AnyObject {
    /// The head that `read` reported last. The caller may swap it out to keep it.
    var head: RequestHead { get set }
    /// The trailers of the request whose end `read` reported last.
    var trailers: [UInt8] { get }

    /// Returns the next event in `input` from `position` on, and advances `position`. An incomplete frame is stored here.
    /// - Parameters:
    ///   - now: monotonic milliseconds, to limit the rate of frames that belong to no message.
    ///   - out: takes the codec's own frames, and data that a wider window releases.
    /// - Throws: an `HTTPFault` if the connection cannot go on. The peer has been informed.
    func read(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8]
    ) throws(HTTPFault) -> StreamServerEvent

    // Writes an interim head. Output may be held until `flush`, so that a message takes few frames.

    func interim(_ head: borrowing ResponseHead, via: [UInt8], on stream: StreamID, to out: inout [UInt8])
    /// Writes the final head of a response and makes ready for its body.
    func respond(
        _ head: borrowing ResponseHead, _ framing: BodyFraming, _ manner: ResponseManner, on stream: StreamID,
        to out: inout [UInt8])
    /// - Returns: false where no body may follow the head: these bytes go nowhere.
    func write(_ bytes: Span<UInt8>, on stream: StreamID, to out: inout [UInt8]) -> Bool
    func end(trailers: [UInt8], on stream: StreamID, to out: inout [UInt8])
    /// Appends the held output. Call it when nothing more is to be written at once.
    func flush(to out: inout [UInt8])
    /// Ends reading and writing on the stream. Completely written messages are still sent.
    func reset(_ stream: StreamID, _ reason: StreamReset, to out: inout [UInt8])
    /// Records that so many bytes of a request body were used, so that the peer may send as many more. Also for an ended
    /// stream, whose bytes count for the connection's window.
    func used(_ count: Int, of stream: StreamID, to out: inout [UInt8])
    /// The bytes that wait for the peer's window. The writer must pause while there are many.
    func waiting(on stream: StreamID) -> Int
    /// Returns the counts since the last call, mainly of streams that were refused.
    func takeTally() -> StreamTally
    /// Gives back memory that only messages need: the next one will be a while.
    func rest()
    /// Starts a graceful close: accepts no further stream, and tells the peer.
    func leave(to out: inout [UInt8])
}

/// An event on the server's side of a connection with streams.
public enum StreamServerEvent: Equatable, Sendable {
    case needsMore
    /// A request begins; its head is here, and how its body comes.
    case head(StreamID, BodyFraming)
    /// A request's head breaks a rule. The stream goes on for the answer alone.
    case broken(StreamID, HTTPFault)
    /// These bytes of the input are body.
    case data(StreamID, Range<Int>)
    /// The request is complete.
    case end(StreamID)
    /// The peer gave the stream up.
    case reset(StreamID)
    /// Data behind the head of a request broke a rule, and the stream was reset.
    case violated(StreamID, HTTPFault)
}
