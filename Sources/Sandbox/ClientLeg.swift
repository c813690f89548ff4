internal import Formats
internal import HTTP1
internal import HTTPCodec

/// The codec of one connection: it reads complete requests and writes responses.
struct ClientLeg: Sendable {
    enum Event: Sendable {
        case needsMore
        /// The client waits for 100 Continue before it sends the body (RFC 9110 §10.1.1).
        case expectsContinue
        case request(SandboxRequest)
        /// The request is refused. Nothing more can be read from this connection.
        case refused(Int, String)
    }

    private let maxBody: Int
    private let scheme: Target.Scheme
    private var leg = HTTP1Server()
    private var head = RequestHead()
    private var body: [UInt8] = []

    /// - Parameters:
    /// - maxBody: in bytes.
    /// - scheme: the scheme of URLs to this server.
    init(maxBody: Int, scheme: Target.Scheme) {
        self.maxBody = maxBody
        self.scheme = scheme
    }

    // MARK: requests

    /// The next event in `input`, whose used bytes are removed. Each request has to be answered before the next is read.
    mutating func next(_ input: inout [UInt8]) -> Event {
        do {
            return leg.awaitsHead ? try readHead(&input) : try readBody(&input)
        } catch {
            return refuse(error.status, error.explanation)
        }
    }

    private mutating func refuse(_ status: Int, _ text: String) -> Event {
        leg.giveUpHead()
        return .refused(status, text)
    }

    private mutating func readHead(_ input: inout [UInt8]) throws(HTTPFault) -> Event {
        let limits = HeadLimits()
        guard let count = try leg.readHead(input.span, into: &head, limits: limits) else { return .needsMore }
        input.removeFirst(count)
        try head.settleHost(scheme: scheme)
        guard head.target.form != .authority else { return refuse(405, "this is not a proxy") }
        let framing = try leg.begin(head, maxTrailerBytes: limits.bytes)
        if case .length(let length) = framing, length > UInt64(maxBody) { return tooLarge() }
        if framing != .none, head.version == .http11, let expectation = head.fields["Expect"] {
            guard ASCII.equal(expectation, "100-continue") else { return refuse(417, "an unknown expectation") }
            if input.isEmpty { return .expectsContinue }
        }
        return try readBody(&input)
    }

    private mutating func tooLarge() -> Event { refuse(413, "the body is longer than \(maxBody) bytes") }

    private mutating func readBody(_ input: inout [UInt8]) throws(HTTPFault) -> Event {
        var position = 0
        while true {
            switch try leg.readBody(input.span, &position) {
            case .data(let range):
                guard body.count + range.count <= maxBody else { return tooLarge() }
                body += input[range]
            case .needsMore:
                input.removeAll(keepingCapacity: true)
                return .needsMore
            case .end:
                input.removeFirst(position)
                let request = SandboxRequest(head: head, body: body)
                head = RequestHead()
                body = []
                return .request(request)
            }
        }
    }

    // MARK: answers

    /// The 100 Continue response.
    func goOn() -> [UInt8] {
        var out: [UInt8] = []
        leg.interim(ResponseHead(status: 100, reason: ReasonPhrase.of(100)), via: [], to: &out)
        return out
    }

    /// - Parameter now: seconds since 1970.
    /// - Returns: the bytes, and whether the connection ends after them.
    mutating func answer(_ response: SandboxResponse, now: Int) -> (message: [UInt8], ends: Bool) {
        var head = ResponseHead(status: response.status, reason: ReasonPhrase.of(response.status))
        head.fields.add("Date", CalendarTime(now).http)
        head.fields.add("Server", "usher-sandbox")
        for field in response.fields { head.fields.add(field.name, field.value) }
        let content = response.body.content
        let framing: BodyFraming
        var size = max(content.count, 1)
        switch response.body {
        case .bytes:
            // a HEAD keeps the length although the body is omitted
            if response.status != 204, response.status != 304 { head.fields.add("Content-Length", "\(content.count)") }
            framing = .length(UInt64(content.count))
        case .chunked(_, let most):
            size = most
            framing = .chunked
        case .untilClose: framing = .untilClose
        }
        var manner = ResponseManner()
        manner.isOwn = true
        var message: [UInt8] = []
        leg.respond(head, framing, manner, to: &message)
        var rest = content.span
        while !rest.isEmpty {
            leg.write(rest.extracting(first: size), to: &message)
            rest = rest.extracting(droppingFirst: size)
        }
        leg.end(trailers: [], to: &message)
        let ends = leg.isLast
        leg.next()
        return (message, ends)
    }
}
