import Formats
public import HTTPCodec

/// The side of a small server on one HTTP/1 connection: it reads whole requests and writes whole responses.
public struct MessageServer: Sendable {
    public enum Event: Sendable {
        case needsMore
        /// `head` is read and may be refused; the next event is about its body.
        case head
        /// The client waits for 100 Continue before it sends the body (RFC 9110 §10.1.1).
        case expectsContinue
        case request(body: [UInt8])
        /// Nothing more can be read; the response is the last and has a body even for HEAD.
        case malformed(HTTPFault)
        case unknownExpectation
        case tooLarge
    }

    private let limits: HeadLimits
    /// In bytes.
    public let maxBody: Int
    private let scheme: Target.Scheme
    public var codec = HTTP1Server()
    public private(set) var head = RequestHead()
    private var body: [UInt8] = []
    /// The framing of the body, from the head's event to the next.
    private var framing: BodyFraming?

    /// - Parameter scheme: the scheme of URLs to this server.
    public init(limits: HeadLimits, maxBody: Int, scheme: Target.Scheme) {
        (self.limits, self.maxBody, self.scheme) = (limits, maxBody, scheme)
    }

    /// The next event in `input`. Advances `position` past the bytes used. Each request has to be answered before the next is
    /// read.
    public mutating func next(_ input: [UInt8], _ position: inout Int) -> Event {
        do throws(HTTPFault) {
            if codec.awaitsHead { return try readHead(input, &position) }
            if let framing {
                self.framing = nil
                if case .length(let length) = framing, length > UInt64(maxBody) { return .tooLarge }
                if framing != .none, head.version == .http11, let expectation = head.fields["Expect"] {
                    guard ASCII.equal(expectation, "100-continue") else { return .unknownExpectation }
                    if position == input.count { return .expectsContinue }
                }
            }
            return try readBody(input, &position)
        } catch {
            codec.giveUpHead()
            return .malformed(error)
        }
    }

    private mutating func readHead(_ input: [UInt8], _ position: inout Int) throws(HTTPFault) -> Event {
        let rest = input.span.extracting(position...)
        guard let count = try codec.readHead(rest, into: &head, limits: limits) else { return .needsMore }
        position += count
        try head.settleHost(scheme: scheme)
        body = []
        framing = try codec.begin(head, maxTrailerBytes: limits.bytes)
        return .head
    }

    private mutating func readBody(_ input: [UInt8], _ position: inout Int) throws(HTTPFault) -> Event {
        while true {
            switch try codec.readBody(input.span, &position) {
            case .data(let range):
                guard body.count + range.count <= maxBody else { return .tooLarge }
                body += input[range]
            case .needsMore:
                position = input.count
                return .needsMore
            case .end:
                defer { body = [] }
                return .request(body: body)
            }
        }
    }

    // MARK: responses

    /// The 100 Continue response.
    public func goOn() -> [UInt8] {
        var out: [UInt8] = []
        codec.interim(ResponseHead(status: 100, reason: ReasonPhrase.of(100)), via: [], to: &out)
        return out
    }

    /// Begins a response and writes what is known of its body.
    /// - Parameter size: the largest piece of the body.
    public mutating func begin(
        _ head: ResponseHead, _ framing: BodyFraming, _ body: [UInt8] = [], inPieces size: Int = .max
    ) -> [UInt8] {
        var manner = ResponseManner()
        manner.isOwn = true
        var out: [UInt8] = []
        codec.respond(head, framing, manner, to: &out)
        var rest = body.span
        while !rest.isEmpty {
            codec.write(rest.extracting(first: size), to: &out)
            rest = rest.extracting(droppingFirst: size)
        }
        return out
    }

    /// Ends the response that `begun` begins.
    /// - Returns: the bytes, and whether the connection ends after them.
    public mutating func finish(_ begun: [UInt8] = []) -> (message: [UInt8], ends: Bool) {
        var out = begun
        codec.end(trailers: [], to: &out)
        let ends = codec.isLast
        codec.next()
        return (out, ends)
    }
}
