import Formats
public import HTTPCodec

/// The client's side of one HTTP/1 connection (RFC 9112): requests out, responses in, one after another.
public struct HTTP1Client: Sendable {
    private enum State: Sendable {
        /// No request is under way.
        case idle
        case awaitingHead
        case body
        /// Something else than HTTP is spoken.
        case switched
    }

    private var state = State.idle
    private var parser = HeadParser()
    private var body = BodyReader()
    private var writer = BodyWriter()
    private var method = Method.get
    /// The response's head, once `read` tells of one. Whoever wants to keep it may swap it for another.
    public var head = ResponseHead()
    /// Bytes of a head that is not whole yet.
    private var pending: [UInt8] = []
    /// Nothing has been asked on this connection.
    public private(set) var isUnused = true
    /// The request has gone out whole.
    public private(set) var hasSent = false
    /// A byte of the response has come: the request may not be repeated on another connection.
    public private(set) var hasAnswered = false
    /// Another request may follow on this connection, as far as it was told.
    public private(set) var isReusable = true

    public init() {}

    // MARK: requests

    /// Writes the head of a request and makes ready for its body and for the response.
    /// - Parameter forwarding: what differs from the head as it stands; its framing is how the body will come.
    public mutating func send(
        _ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to out: inout [UInt8]
    ) {
        begin(head.method)
        // a peer that pays no heed to a body without meaning (RFC 9110 §9.3) takes it for the next request, and the answer
        // to that must reach nobody
        if forwarding.framing != .none, !method.givesBodyMeaning { isReusable = false }
        head.write(to: &out, forwarding)
        writer.begin(forwarding.framing)
    }

    /// Writes the request for a tunnel (RFC 9110 §9.3.6), which is whole with that.
    /// - Parameters:
    ///   - authority: host and port.
    ///   - via: this hop's entry for `Via`.
    ///   - lines: further lines, each with its end.
    public mutating func connect(to authority: String, via: [UInt8], lines: [UInt8], to out: inout [UInt8]) {
        begin(.connect)
        out.append(contentsOf: "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\nVia: ".utf8)
        out.append(contentsOf: via)
        out.append(literal: "\r\n")
        out.append(contentsOf: lines)
        out.append(literal: "\r\n")
        writer.begin(.none)
        hasSent = true
    }

    private mutating func begin(_ method: Method) {
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

    /// The next event in `input` from `position` on, which is moved past what was used; what is left of a head that is not
    /// whole is kept here.
    /// - Throws: an `HTTPFault` where the response breaks HTTP. The connection is of no further use.
    public mutating func read(
        _ input: Span<UInt8>, _ position: inout Int, limits: HeadLimits, maxTrailerBytes: Int
    ) throws(HTTPFault) -> ResponseEvent {
        switch state {
        case .idle, .switched:
            // nobody asked for it
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
        // bytes behind the response were not asked for, and an answer before the request was whole tells nothing about what
        // the peer makes of the rest
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
                // the status alone decides about a tunnel, whatever is said of a body (RFC 9110 §9.3.6)
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

    /// How many of the next bytes are the response's body and nothing else. See `BodyReader.raw`.
    public var rawBody: UInt64? { state == .body ? body.raw : nil }

    /// So many of them were passed on.
    /// - Returns: true where that completes the response.
    public mutating func passed(_ count: UInt64) -> Bool {
        body.passed(count)
        guard state == .body, body.isComplete else { return false }
        _ = complete(more: false)
        return true
    }

    /// The peer sends no more.
    /// - Returns: true where that is how the response ends.
    public mutating func ended(cleanly: Bool) -> Bool {
        isReusable = false
        guard cleanly, state == .body, body.connectionEnded() else { return false }
        state = .idle
        return true
    }

    /// The connection can serve no other request.
    public mutating func preventReuse() { isReusable = false }
}
