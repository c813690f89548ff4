public import HTTPCodec

/// The server's side of one HTTP/1 connection (RFC 9112): requests in, responses out, one after another.
///
/// It knows how messages begin and end, and whether another may follow; not what they are for.
public struct HTTP1Server: Sendable {
    private enum Reading: Sendable {
        case head
        /// The body; complete when the reader says so.
        case body
    }

    private var parser = HeadParser()
    private var reading = Reading.head
    private var body = BodyReader()
    private var writer = BodyWriter()
    private var version = HTTPVersion.http11
    /// The request is a HEAD.
    private var isHead = false
    /// No request is read after this one.
    public private(set) var isLast = false

    public init() {}

    // MARK: requests

    /// Reads a request's head. Always give it the bytes from the head's first one on.
    /// - Returns: how many bytes it took, or nil while it is incomplete.
    /// - Throws: what `HeadParser.parse` does. Nothing in `head` is to be relied on then.
    public mutating func readHead(
        _ input: Span<UInt8>, into head: inout RequestHead, limits: HeadLimits
    ) throws(HTTPFault) -> Int? {
        try parser.parse(input, into: &head, limits: limits)
    }

    /// Begins with the request whose head was read: decides how its body ends, and whether another request may follow.
    /// - Throws: an `HTTPFault` where the framing is ambiguous or may not be (RFC 9112 §6.1, §6.3).
    public mutating func begin(
        _ head: borrowing RequestHead, maxTrailerBytes: Int
    ) throws(HTTPFault) -> BodyFraming {
        reading = .body
        version = head.version
        isHead = head.method == .head
        isLast = !head.keepsAlive
        body.begin(.none, maxTrailerBytes: maxTrailerBytes)
        let framing = try head.framing()
        if head.method == .connect, framing != .none { throw HTTPFault(.bodyNotAllowed, at: 0) }
        // a body without a length, as RFC 1945 §7.2.2 knows it: what follows may be that, and no request
        if framing == .none, version == .http10, head.method.givesBodyMeaning, !head.announcesLength { isLast = true }
        body.begin(framing, maxTrailerBytes: maxTrailerBytes)
        return framing
    }

    /// The body's next piece.
    public mutating func readBody(
        _ input: Span<UInt8>, _ position: inout Int
    ) throws(HTTPFault) -> BodyReader.Event {
        try body.next(input, &position)
    }

    /// What is read next is the head of a request.
    public var awaitsHead: Bool { reading == .head }

    /// The request has come whole.
    public var isComplete: Bool { body.isComplete }
    public var trailers: [UInt8] { body.trailers }

    /// How many of the next bytes are the request's body and nothing else. See `BodyReader.raw`.
    public var rawBody: UInt64? { body.raw }
    public mutating func passed(_ count: UInt64) { body.passed(count) }

    /// Where the next request would begin is unknown, or it is unwanted.
    public mutating func endAfterThis() { isLast = true }

    /// What follows is no request of the client to this proxy, whatever was said of the connection before.
    public mutating func keepOpen() { isLast = false }

    /// Gives up what was read of a head that does not come whole or breaks a rule. The answer to it is the last.
    public mutating func giveUpHead() {
        parser.reset()
        body.begin(.none, maxTrailerBytes: 0)
        version = .http11
        isHead = false
        isLast = true
    }

    /// The exchange is over, and another request may come.
    public mutating func next() {
        reading = .head
        isLast = false
    }

    // MARK: responses

    /// Writes an interim response (RFC 9110 §15.2). HTTP/1.0 knows none, and gets none.
    public func interim(_ head: borrowing ResponseHead, via: [UInt8], to out: inout [UInt8]) {
        guard version == .http11 else { return }
        var forwarding = Forwarding(framing: .none)
        forwarding.via = via
        head.write(to: &out, forwarding)
    }

    /// Writes the head of a response that ends the HTTP on this connection: 101, or 2xx to CONNECT.
    public func switching(_ head: borrowing ResponseHead, via: [UInt8], to out: inout [UInt8]) {
        var forwarding = Forwarding(framing: .none)
        forwarding.upgrades = true
        forwarding.via = via
        head.write(to: &out, forwarding)
    }

    /// Writes the final head of the response and makes ready for its body.
    /// - Parameters:
    ///   - framing: how the body comes. What the client's version does not know takes another form here; where no body may
    ///     follow (RFC 9112 §6.3), what is written of one goes nowhere.
    ///   - manner: what this hop says in the head.
    public mutating func respond(
        _ head: borrowing ResponseHead, _ framing: BodyFraming, _ manner: ResponseManner, to out: inout [UInt8]
    ) {
        var framing = framing
        if framing == .chunked, version == .http10 { framing = .untilClose }
        if framing == .untilClose || !isComplete || manner.isLast { isLast = true }
        let status = head.status
        if isHead || status == 204 || status == 304 { framing = .none }
        var forwarding = Forwarding(framing: framing)
        forwarding.keepsLength = framing == .none && status != 204 && (isHead || status == 304)
        forwarding.via = manner.via
        forwarding.date = manner.date
        forwarding.lines = manner.lines
        forwarding.isOwn = manner.isOwn
        if isLast || manner.closes {
            forwarding.connection = "close"
        } else if version == .http10 {
            forwarding.connection = "keep-alive"
        }
        head.write(to: &out, forwarding)
        writer.begin(framing)
    }

    public func write(_ bytes: Span<UInt8>, to out: inout [UInt8]) { writer.write(bytes, to: &out) }

    public mutating func end(trailers: [UInt8], to out: inout [UInt8]) { writer.end(trailers: trailers, to: &out) }

    /// Bytes of the response's body may be written as they are.
    public var writesRaw: Bool { writer.isPlain }
    /// The response has no body, whatever is written of one.
    public var writesNothing: Bool { writer.isEmpty }
}
