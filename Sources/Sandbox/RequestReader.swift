internal import HTTPCodec

/// Makes requests of the bytes of one connection.
struct RequestReader: Sendable {
    enum Event: Sendable {
        case needsMore
        /// The client waits for word before it sends the body (RFC 9110 §10.1.1).
        case expectsContinue
        case request(SandboxRequest)
        /// Nothing more can be read from this connection.
        case refused(Int, String)
    }

    private enum State: Sendable {
        case head
        case length(Int)
        case chunked(ChunkedDecoder)
        case over
    }

    private let maxBody: Int
    private let scheme: Target.Scheme
    private var parser = HeadParser()
    private var head = RequestHead()
    private var body: [UInt8] = []
    private var state = State.head

    /// - Parameters:
    ///   - maxBody: in bytes.
    ///   - scheme: how URLs begin that lead here.
    init(maxBody: Int, scheme: Target.Scheme) {
        self.maxBody = maxBody
        self.scheme = scheme
    }

    /// The next event in `input`, from which what was used is removed.
    mutating func next(_ input: inout [UInt8]) -> Event {
        do {
            switch state {
            case .head: return try readHead(&input)
            case .length(let missing): return readLength(&input, missing)
            case .chunked(let decoder): return try readChunked(&input, decoder)
            case .over: return .needsMore
            }
        } catch {
            return refuse(error.status, error.explanation)
        }
    }

    private mutating func refuse(_ status: Int, _ text: String) -> Event {
        state = .over
        return .refused(status, text)
    }

    private mutating func finished() -> Event {
        let request = SandboxRequest(head: head, body: body)
        head = RequestHead()
        body = []
        state = .head
        return .request(request)
    }

    private mutating func readHead(_ input: inout [UInt8]) throws(HTTPFault) -> Event {
        guard let count = try parser.parse(input.span, into: &head, limits: HeadLimits()) else { return .needsMore }
        input.removeFirst(count)
        try head.settleHost(scheme: scheme)
        guard head.target.form != .authority else { return refuse(405, "this is no proxy") }
        switch try head.framing() {
        case .length(let length):
            guard length <= UInt64(maxBody) else { return tooLarge() }
            state = .length(Int(length))
        case .chunked:
            state = .chunked(ChunkedDecoder())
        case .none, .untilClose:
            return finished()
        }
        if head.version == .http11, let expectation = head.fields["Expect"] {
            guard ASCII.equal(expectation, "100-continue") else { return refuse(417, "an unknown expectation") }
            if input.isEmpty { return .expectsContinue }
        }
        return next(&input)
    }

    private mutating func tooLarge() -> Event { refuse(413, "the body is longer than \(maxBody) bytes") }

    private mutating func readLength(_ input: inout [UInt8], _ missing: Int) -> Event {
        let taken = min(missing, input.count)
        body += input[..<taken]
        input.removeFirst(taken)
        guard taken == missing else {
            state = .length(missing - taken)
            return .needsMore
        }
        return finished()
    }

    private mutating func readChunked(
        _ input: inout [UInt8], _ decoder: ChunkedDecoder
    ) throws(HTTPFault) -> Event {
        var decoder = decoder
        var position = 0
        while true {
            switch try decoder.next(input.span, &position) {
            case .data(let range):
                guard body.count + range.count <= maxBody else { return tooLarge() }
                body += input[range]
            case .end:
                input.removeFirst(position)
                return finished()
            case .needsMore:
                input.removeAll(keepingCapacity: true)
                state = .chunked(decoder)
                return .needsMore
            }
        }
    }
}
