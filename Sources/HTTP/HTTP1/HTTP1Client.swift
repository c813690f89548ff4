import Formats
public import HTTPCodec

/// The client's side of one HTTP/1 connection (RFC 9112). It writes requests and reads responses, one after another.
public struct HTTP1Client: Sendable {
    private enum State: Sendable {
        /// No request is in progress.
        case idle
        case awaitingHead
        case body
        /// The connection carries another protocol than HTTP.
        case switched
    }

    private var state = State.idle
    private var parser = HeadParser()
    private var body = BodyReader()
    private var writer = BodyWriter()
    private var method = Method.get
    /// The head of the response after `read` reported one. The caller may swap it out to keep it.
    public var head = ResponseHead()
    /// Bytes of an incomplete head.
    private var pending: [UInt8] = []
    /// Whether no request was sent on this connection yet.
    public private(set) var isUnused = true
    /// Whether the request was sent completely.
    public private(set) var hasSent = false
    /// Whether a byte of the response came; then the request must not be repeated on another connection.
    public private(set) var hasAnswered = false
    /// Whether another request may follow on this connection, as far as is known.
    public private(set) var isReusable = true

    public init() {}

    // MARK: requests

    /// Writes the head of a request, and prepares for its body and the response.
    /// - Parameter forwarding: the changes to the head; its framing is that of the coming body.
    public mutating func send(
        _ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to out: inout [UInt8]
    ) {
        start(head.method)
        // a server that ignores a body without meaning (RFC 9110 §9.3) reads it as the next request; nobody must get the
        // response to that
        if forwarding.framing != .none, !method.givesBodyMeaning { isReusable = false }
        head.write(to: &out, forwarding)
        writer.begin(forwarding.framing)
    }

    /// Writes a complete CONNECT request (RFC 9110 §9.3.6).
    /// - Parameters:
    ///   - authority: host and port.
    ///   - via: this hop's entry for `Via`.
    ///   - lines: further lines, each with its CRLF.
    public mutating func connect(to authority: String, via: [UInt8], lines: [UInt8], to out: inout [UInt8]) {
        start(.connect)
        out.append(contentsOf: "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\nVia: ".utf8)
        out.append(contentsOf: via)
        out.append(literal: "\r\n")
        out.append(contentsOf: lines)
        out.append(literal: "\r\n")
        writer.begin(.none)
        hasSent = true
    }

    private mutating func start(_ method: Method) {
        self.method = method
        isUnused = false
        state = .awaitingHead
        parser.reset()
        hasAnswered = false
        hasSent = false
    }

    public func write(_ bytes: Span<UInt8>, to out: inout [UInt8]) { writer.write(bytes, to: &out) }

    public mutating func end(trailers: [UInt8] = [], to out: inout [UInt8]) {
        writer.end(trailers: trailers, to: &out)
        hasSent = true
    }

    // MARK: responses

    /// Returns the next event in `input` from `position` on, and advances `position`. An incomplete head is stored here.
    /// - Throws: an `HTTPFault` if the response is invalid. The connection must not be used further.
    public mutating func read(
        _ input: Span<UInt8>, _ position: inout Int, limits: HeadLimits, maxTrailerBytes: Int
    ) throws(HTTPFault) -> ResponseEvent {
        switch state {
        case .idle, .switched:
            // unsolicited bytes
            if position < input.count { isReusable = false }
            position = input.count
            return .needsMore
        case .awaitingHead: return try readHead(input, &position, limits, maxTrailerBytes)
        case .body:
            do throws(HTTPFault) {
                switch try body.next(input, &position) {
                case .data(let range): return .data(range)
                case .needsMore: return .needsMore
                case .end: return complete(more: position < input.count)
                }
            } catch {
                isReusable = false
                throw error
            }
        }
    }

    private mutating func complete(more: Bool) -> ResponseEvent {
        state = .idle
        // bytes behind the response are unsolicited, and after an early response the fate of the request's rest is unknown
        if more || !hasSent { isReusable = false }
        return .end
    }

    private mutating func switched() -> ResponseEvent {
        state = .switched
        isReusable = false
        return .switched
    }

    private mutating func readHead(
        _ input: Span<UInt8>, _ position: inout Int, _ limits: HeadLimits, _ maxTrailerBytes: Int
    ) throws(HTTPFault) -> ResponseEvent {
        guard position < input.count else { return .needsMore }
        hasAnswered = true
        do throws(HTTPFault) {
            let used: Int?
            if pending.isEmpty {
                used = try parser.parse(input.extracting(position...), into: &head, limits: limits)
                if let used { position += used }
            } else {
                var whole: [UInt8] = []
                swap(&whole, &pending)
                let before = whole.count
                whole.append(input.extracting(position...))
                used = try parser.parse(whole.span, into: &head, limits: limits)
                if let used {
                    position += used - before
                } else {
                    position = input.count
                    pending = whole
                }
            }
            guard used != nil else {
                if position < input.count {
                    pending.append(input.extracting(position...))
                    position = input.count
                }
                return .needsMore
            }
            let framing: BodyFraming
            if method == .connect {
                // for CONNECT the status alone decides, and a body is ignored (RFC 9110 §9.3.6)
                if head.isInterim { return .interim }
                if head.status < 300 { return switched() }
                framing = (try? head.framing(answering: method)) ?? .untilClose
            } else {
                framing = try head.framing(answering: method)
                try head.fields.removeConnectionFields()
                if head.isInterim { return .interim }
                if head.status == 101 { return switched() }
            }
            if !head.keepsAlive || framing == .untilClose { isReusable = false }
            body.begin(framing, maxTrailerBytes: maxTrailerBytes)
            state = .body
            return .head(framing)
        } catch {
            isReusable = false
            throw error
        }
    }

    public var trailers: [UInt8] { body.trailers }

    /// The number of next bytes that are body of the response alone. See `BodyReader.raw`.
    public var rawBody: UInt64? { state == .body ? body.raw : nil }

    /// Records that so many raw bytes were forwarded.
    /// - Returns: true if that completes the response.
    public mutating func passed(_ count: UInt64) -> Bool {
        body.passed(count)
        guard state == .body, body.isComplete else { return false }
        _ = complete(more: false)
        return true
    }

    /// Records that the peer sends no more.
    /// - Returns: true if that completes the response.
    public mutating func ended(cleanly: Bool) -> Bool {
        isReusable = false
        guard cleanly, state == .body, body.connectionEnded() else { return false }
        state = .idle
        return true
    }

    /// Excludes the connection from further requests.
    public mutating func preventReuse() { isReusable = false }
}

extension HTTP1Client {
    /// The bytes of a whole request that does not come from a client.
    public mutating func request(_ head: RequestHead, body: [UInt8]? = nil, absoluteForm: Bool = false) -> [UInt8] {
        var forwarding = Forwarding(framing: body.map { .length(UInt64($0.count)) } ?? .none)
        forwarding.absoluteForm = absoluteForm
        forwarding.isOwn = true
        var out: [UInt8] = []
        send(head, forwarding, to: &out)
        if let body { write(body.span, to: &out) }
        end(to: &out)
        return out
    }
}
