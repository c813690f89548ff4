public import HTTPCodec

/// The server's side of one HTTP/1 connection (RFC 9112). It reads requests and writes responses, one after another.
///
/// It knows where messages begin and end and whether another may follow, but not their purpose.
public struct HTTP1Server: Sendable {
    private enum Reading: Sendable {
        case head
        /// The body is being read.
        case body
    }

    private var parser = HeadParser()
    private var reading = Reading.head
    private var body = BodyReader()
    private var writer = BodyWriter()
    private var version = HTTPVersion.http11
    /// Whether the request is a HEAD.
    private var isHead = false
    /// Whether no request is read after this one.
    public private(set) var isLast = false

    public init() {}

    // MARK: requests

    /// Reads the head of a request. The bytes must start with the first one of the head.
    /// - Returns: the number of bytes used; nil if the head is incomplete.
    /// - Throws: the errors of `HeadParser.parse`; then `head` is undefined.
    public mutating func readHead(
        _ input: Span<UInt8>, into head: inout RequestHead, limits: HeadLimits
    ) throws(HTTPFault) -> Int? {
        try parser.parse(input, into: &head, limits: limits)
    }

    /// Starts the request whose head was read: determines the framing, and whether another request may follow.
    /// - Throws: an `HTTPFault` if the framing is ambiguous or forbidden (RFC 9112 §6.1, §6.3).
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
        // HTTP/1.0 allows a body without a length (RFC 1945 §7.2.2), so the bytes that follow may be no request
        if framing == .none, version == .http10, head.method.givesBodyMeaning, !head.announcesLength { isLast = true }
        body.begin(framing, maxTrailerBytes: maxTrailerBytes)
        return framing
    }

    /// Returns the next piece of the body.
    public mutating func readBody(
        _ input: Span<UInt8>, _ position: inout Int
    ) throws(HTTPFault) -> BodyReader.Event {
        try body.next(input, &position)
    }

    /// Whether the head of a request is read next.
    public var awaitsHead: Bool { reading == .head }

    /// Whether the request was received completely.
    public var isComplete: Bool { body.isComplete }
    public var trailers: [UInt8] { body.trailers }

    /// The number of next bytes that are body of the request alone. See `BodyReader.raw`.
    public var rawBody: UInt64? { body.raw }
    public mutating func passed(_ count: UInt64) { body.passed(count) }

    /// Excludes further requests: the start of the next one is unknown, or it is unwanted.
    public mutating func endAfterThis() { isLast = true }

    /// Keeps the connection open for bytes that are no request to this proxy, whatever was announced before.
    public mutating func keepOpen() { isLast = false }

    /// Discards an incomplete or invalid head. The response to it is the last one.
    public mutating func giveUpHead() {
        parser.reset()
        body.begin(.none, maxTrailerBytes: 0)
        version = .http11
        isHead = false
        isLast = true
    }

    /// Ends the exchange, so that another request may follow.
    public mutating func next() {
        reading = .head
        isLast = false
    }

    // MARK: responses

    /// Writes an interim response (RFC 9110 §15.2), but none to an HTTP/1.0 client.
    public func interim(_ head: borrowing ResponseHead, via: [UInt8], to out: inout [UInt8]) {
        guard version == .http11 else { return }
        var forwarding = Forwarding(framing: .none)
        forwarding.via = via
        head.write(to: &out, forwarding)
    }

    /// Writes the head of a response that ends HTTP on this connection: 101, or 2xx to CONNECT.
    public func switching(_ head: borrowing ResponseHead, via: [UInt8], to out: inout [UInt8]) {
        var forwarding = Forwarding(framing: .none)
        forwarding.upgrades = true
        forwarding.via = via
        head.write(to: &out, forwarding)
    }

    /// Writes the final head of the response and prepares for its body.
    /// - Parameters:
    ///   - framing: the framing of the incoming body. It is adapted to the client's version. Where no body is allowed (RFC
    ///   9112 §6.3), body bytes are discarded.
    ///   - manner: this hop's additions to the head.
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

    /// Whether bytes of the response body may be written unchanged.
    public var writesRaw: Bool { writer.isPlain }
    /// Whether the response has no body and body bytes are discarded.
    public var writesNothing: Bool { writer.isEmpty }
}
