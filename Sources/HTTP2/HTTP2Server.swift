public import HTTPCodec

/// The server's side of an HTTP/2 connection (RFC 9113): requests in, responses out, many at a time.
///
/// Requests are as HTTP/1 gives them to a proxy: the target is the whole URL, also inside tunnels, and a Host field says the same.
/// CONNECT has an authority alone; an extended CONNECT (RFC 8441) is a GET with `Upgrade` and `Connection`, and is answered
/// with 101 or 2xx. The bytes of either come as data.
///
/// What one request does wrong ends nothing but its stream: that an answer is the last, or that a connection closes
/// (`ResponseManner`), says nothing here; `leave` does.
///
/// A head that breaks a rule is told of as `broken`, and may be answered; what breaks one later resets the stream.
public final class HTTP2Server: StreamServer {
    // Its connection's alone, and nobody is called while one is changed: not looked at each time, for what that costs.

    @exclusivity(unchecked) public var head = RequestHead()
    @exclusivity(unchecked) public private(set) var trailers: [UInt8] = []
    let session: Session

    /// - Parameters:
    ///   - maxStreams: how many streams the client may have begun at a time.
    ///   - limits: what the client is told of how large a head may be.
    ///   - budget: what the loop's clients share.
    public init(maxStreams: Int = 100, limits: HeadLimits = HeadLimits(), budget: WindowBudget = WindowBudget()) {
        session = Session(
            .server, maxStreams: UInt32(clamping: maxStreams), maxFieldBytes: UInt32(clamping: limits.bytes), budget)
    }

    // MARK: requests

    public func read(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8]
    ) throws(HTTPFault) -> StreamServerEvent {
        try session.read(input, &position, now: now, limits, maxTrailerBytes: maxTrailerBytes, to: &out) {
            event($0, to: &$1)
        } ?? .needsMore
    }

    private func event(_ signal: Signal, to out: inout [UInt8]) -> StreamServerEvent? {
        switch signal {
        case .fields, .data, .ended:
            switch session.piece(signal, &trailers, to: &out) {
            case .head(let index, let endsStream): return beginRequest(index, endsStream, &head)
            case .data(let stream, let range): return .data(stream, range)
            case .end(let stream): return .end(stream)
            case nil: return nil
            }
        case .closed(let id, _):
            guard let index = session.streams.index(id: id) else { return nil }
            let (place, fault) = (session.streams[index].place, session.streams[index].fault)
            let isOver = session.streams[index].peerHasEnded && session.streams[index].outgoing.isSent
            let isHeardOf = session.streams[index].isTold && !session.streams[index].isForgotten
            session.streams.remove(index)
            guard isHeardOf, !isOver else { return nil }
            return fault.map { .violated(place, $0) } ?? .reset(place)
        case .drained, .pong, .refused: return nil
        }
    }

    /// - Parameter head: this one's own, so that it is looked at where it is.
    private func beginRequest(_ index: Int, _ endsStream: Bool, _ head: inout RequestHead) -> StreamServerEvent {
        let place = session.streams[index].place
        session.streams[index].isTold = true
        session.streams[index].peer = .ignored
        do throws(HTTPFault) {
            let limits = session.inbound.limits
            try session.inbound.block.take(request: &head, limits: limits)
            let isUpgrade = head.fields.contains(.upgrade)
            let isTunnel = head.method == .connect || isUpgrade
            var framing = try head.framing()
            if isTunnel, framing != .none { throw HTTPFault(.bodyNotAllowed, at: 0) }
            if endsStream, framing != .none { throw HTTPFault(.lengthMismatch, at: 0) }
            let missing: UInt64?
            if case .length(let length) = framing {
                missing = length
            } else {
                missing = head.announcesLength ? 0 : nil
            }
            if framing == .none, missing == nil, !endsStream, !isTunnel { framing = .chunked }
            session.streams[index].peer = .body
            session.streams[index].missing = missing
            session.streams[index].isTunnel = isTunnel
            session.streams[index].isHead = head.method == .head
            return .head(place, framing)
        } catch {
            return .broken(place, error)
        }
    }

    // MARK: responses

    public func interim(_ head: borrowing ResponseHead, via: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        // the client has no use for a switch of its connection
        guard let index = session.streams.index(stream), session.streams[index].takesHead, head.isInterim else {
            return
        }
        session.outbound.fields.begin(response: head.status)
        session.outbound.fields.add(head.fields, isOwn: false, keepsLength: false)
        if !via.isEmpty { session.outbound.fields.add("via", via) }
        session.submitFields(head.fields.bytes, on: session.streams[index].id, endsStream: false)
    }

    public func respond(
        _ head: borrowing ResponseHead, _ framing: BodyFraming, _ manner: ResponseManner, on stream: StreamID,
        to out: inout [UInt8]
    ) {
        guard let index = session.streams.index(stream), session.streams[index].takesHead else { return }
        let opensTunnel = session.streams[index].isTunnel && (head.status == 101 || head.status / 100 == 2)
        let hasNoBody =
            !opensTunnel && (session.streams[index].isHead || head.status == 204 || head.status == 304)
        let endsStream = hasNoBody || framing == .none && !opensTunnel
        let keepsLength = hasNoBody && head.status != 204
        // what HTTP/1 switches to has begun with any success here (RFC 8441 §5)
        session.outbound.fields.begin(response: head.status == 101 ? 200 : head.status)
        session.outbound.fields.add(head.fields, isOwn: manner.isOwn, keepsLength: keepsLength)
        if !hasNoBody, !opensTunnel {
            switch framing {
            case .length(let length): session.outbound.fields.add("content-length", decimal: length)
            case .none: session.outbound.fields.add("content-length", "0")
            case .chunked, .untilClose: break
            }
        }
        if !manner.via.isEmpty { session.outbound.fields.add("via", manner.via) }
        if !manner.date.isEmpty { session.outbound.fields.add("date", manner.date) }
        session.outbound.fields.add(lines: manner.lines)
        session.streams[index].outgoing.hasHead = true
        session.streams[index].outgoing.isWritten = endsStream
        session.submitFields(head.fields.bytes, on: session.streams[index].id, endsStream: endsStream)
    }

    public func write(_ bytes: Span<UInt8>, on stream: StreamID, to out: inout [UInt8]) -> Bool {
        guard let index = session.streams.index(stream), session.streams[index].takesBody else { return false }
        session.write(bytes, on: index, to: &out)
        return true
    }

    public func end(trailers: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        guard let index = session.streams.index(stream), session.streams[index].takesBody else { return }
        session.end(trailers, on: index)
    }

    public func flush(to out: inout [UInt8]) {
        if session.outbound.isDue { session.flush(to: &out) }
    }

    // MARK: streams

    public func reset(_ stream: StreamID, _ reason: StreamReset, to out: inout [UInt8]) {
        guard let index = session.streams.index(stream) else { return }
        session.streams[index].isForgotten = true
        guard !session.streams[index].isClosed else { return }
        session.streams[index].peer = .ignored
        let id = session.streams[index].id
        if reason == .complete, session.streams[index].outgoing.isWritten {
            // what waits for the client's window goes out first
            session.streams[index].outgoing.isLast = true
            if session.streams[index].outgoing.isSent { session.reset(id, ConnectionError.none) }
        } else {
            session.reset(id, ConnectionError.failed)
        }
        session.flush(to: &out)
    }

    public func used(_ count: Int, of stream: StreamID, to out: inout [UInt8]) {
        session.used(count, of: stream)
        session.flush(to: &out)
    }

    public func takeTally() -> StreamTally { session.takeTally() }

    public func waiting(on stream: StreamID) -> Int {
        session.streams.index(stream).map { session.streams[$0].outgoing.count } ?? 0
    }

    public func rest() {
        head = RequestHead()
        trailers = []
        session.rest()
    }

    public func leave(to out: inout [UInt8]) {
        session.leave()
        session.flush(to: &out)
    }
}
