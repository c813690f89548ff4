public import HTTPCodec

/// The client's side of an HTTP/2 connection (RFC 9113): requests out, responses in, many at a time.
///
/// A request that offers an upgrade (`Forwarding.upgrades`) goes out as an extended CONNECT (RFC 8441), where the peer takes
/// such; its success is told of as a 101, and what follows as data. The answer to CONNECT is `switched`, likewise.
public final class HTTP2Client: StreamClient {
    /// Streams at a time, whatever the peer allows.
    private static let maxStreams = 256
    /// Requests that are given up before no more are begun: peers end the whole connection for many of them, and with it what
    /// others have on it.
    private static let mostResets = 64

    // Its connection's alone, and nobody is called while one is changed: not looked at each time, for what that costs.

    @exclusivity(unchecked) public var head = ResponseHead()
    @exclusivity(unchecked) public private(set) var trailers: [UInt8] = []
    private let session: Session
    private var lastPlace: UInt32 = 0
    /// Requests that were given up on it.
    private var resets = 0

    /// - Parameters:
    ///   - limits: what the peer is told of how large a head may be.
    ///   - budget: what the loop's connections to origins share.
    public init(limits: HeadLimits = HeadLimits(), budget: WindowBudget = WindowBudget()) {
        session = Session(
            .client, maxStreams: UInt32(Self.maxStreams), maxFieldBytes: UInt32(clamping: limits.bytes), budget)
    }

    // MARK: streams

    public var hasRoom: Bool {
        isReusable && session.streams.count < min(Self.maxStreams, session.peerMaxStreams) && session.windows.hasRoom
    }

    public var isReusable: Bool { session.maySendRequests && resets < Self.mostResets }

    public var terms: StreamTerms? {
        guard session.inbound.isSettled else { return nil }
        return StreamTerms(
            maxStreams: min(Self.maxStreams, session.peerMaxStreams), takesUpgrades: session.peerTakesUpgrades)
    }

    public var farewell: StreamErrorCode? { session.inbound.farewell }

    public func begin() -> StreamID? {
        guard hasRoom else { return nil }
        // requests get their numbers in the order that they go out in, which may be another one
        lastPlace &+= 1
        var state = StreamState(id: 0, place: StreamID(lastPlace))
        session.windows.begin(&state.window)
        session.streams.add(state)
        return StreamID(lastPlace)
    }

    public func reset(_ stream: StreamID, to out: inout [UInt8]) {
        guard let index = session.streams.index(stream) else { return }
        guard session.streams[index].id != 0 else {
            session.windows.end(&session.streams[index].window)
            session.streams.remove(index)
            return
        }
        session.streams[index].isForgotten = true
        session.streams[index].peer = .ignored
        guard !session.streams[index].isClosed else { return }
        resets += 1
        session.reset(session.streams[index].id, ConnectionError.unwanted)
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
        head = ResponseHead()
        trailers = []
        session.rest()
    }

    public func ping(to out: inout [UInt8]) {
        session.ping()
        session.flush(to: &out)
    }

    // MARK: requests

    public func send(
        _ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, on stream: StreamID, to out: inout [UInt8]
    ) {
        guard let index = session.streams.index(stream), session.streams[index].id == 0 else { return }
        let upgrade = forwarding.upgrades && session.peerTakesUpgrades ? head.fields.first(.upgrade) : nil
        let isTunnel = upgrade != nil || head.method == .connect
        let endsStream = forwarding.framing == .none && !isTunnel
        session.outbound.fields.begin(request: head, upgrade: upgrade)
        session.outbound.fields.add(head.fields, forwarding, isUpgrade: upgrade != nil)
        if !isTunnel {
            switch forwarding.framing {
            case .length(let length): session.outbound.fields.add("content-length", decimal: length)
            case .none:
                if head.announcesLength
                    || head.method.givesBodyMeaning && head.method != .options
                        && head.method != .other
                {
                    session.outbound.fields.add("content-length", "0")
                }
            case .chunked, .untilClose: break
            }
        }
        session.streams[index].isHead = head.method == .head
        session.streams[index].isTunnel = isTunnel
        session.streams[index].protocolName = upgrade.map(head.fields.value)
        session.streams[index].outgoing.hasHead = true
        session.streams[index].outgoing.isWritten = endsStream
        if let id = session.submitRequest(head.fields.bytes, endsStream: endsStream) {
            session.streams.name(index, id)
        } else {
            session.windows.end(&session.streams[index].window)
            session.streams.remove(index)
            session.signals.append(.refused(stream))
        }
        session.flush(to: &out)
    }

    public func write(_ bytes: Span<UInt8>, on stream: StreamID, to out: inout [UInt8]) {
        guard let index = session.streams.index(stream), session.streams[index].takesBody else { return }
        session.write(bytes, on: index, to: &out)
        session.flush(to: &out)
    }

    public func end(trailers: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        guard let index = session.streams.index(stream), session.streams[index].takesBody else { return }
        // the end of a request that asks for a tunnel is not the end of what goes into the tunnel
        guard !session.streams[index].isTunnel || session.streams[index].isTold else { return }
        session.end(trailers, on: index)
        session.flush(to: &out)
    }

    // MARK: responses

    public func read(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8]
    ) throws(HTTPFault) -> StreamClientEvent {
        try session.read(input, &position, now: now, limits, maxTrailerBytes: maxTrailerBytes, to: &out) {
            event($0, to: &$1)
        } ?? .needsMore
    }

    private func event(_ signal: Signal, to out: inout [UInt8]) -> StreamClientEvent? {
        switch signal {
        case .fields, .data, .ended:
            switch session.piece(signal, &trailers, to: &out) {
            case .head(let index, let endsStream): return beginResponse(index, endsStream, &head, to: &out)
            case .data(let stream, let range): return .response(stream, .data(range))
            case .end(let stream): return .response(stream, .end)
            case nil: return nil
            }
        case .closed(let id, let code):
            guard let index = session.streams.index(id: id) else { return nil }
            let (place, fault) = (session.streams[index].place, session.streams[index].fault)
            let (isForgotten, peer) = (session.streams[index].isForgotten, session.streams[index].peer)
            session.streams.remove(index)
            if isForgotten { return nil }
            if let fault { return .broken(place, fault) }
            return peer == .ended ? nil : .reset(place, StreamErrorCode(rawValue: code))
        case .drained(let place): return .drained(place)
        case .refused(let place): return .reset(place, .refused)
        case .pong: return .pong
        }
    }

    /// - Parameter head: this one's own, so that it is looked at where it is.
    private func beginResponse(
        _ index: Int, _ endsStream: Bool, _ head: inout ResponseHead, to out: inout [UInt8]
    ) -> StreamClientEvent? {
        let place = session.streams[index].place
        do throws(HTTPFault) {
            try session.inbound.block.take(response: &head)
            if head.isInterim {
                if endsStream || head.fields.contains(.contentLength) { throw HTTPFault(.bodyNotAllowed, at: 0) }
                return .response(place, .interim)
            }
            session.streams[index].isTold = true
            if session.streams[index].isTunnel, head.status / 100 == 2 {
                session.streams[index].peer = .body
                if let name = session.streams[index].protocolName { head.becomeSwitch(to: name) }
                return .response(place, .switched)
            }
            var framing = try head.framing(answering: session.streams[index].isHead ? .head : .get)
            if case .length(let length) = framing {
                if endsStream { throw HTTPFault(.lengthMismatch, at: 0) }
                session.streams[index].missing = length
            } else if framing == .untilClose {
                framing = endsStream ? .none : .chunked
            } else {
                session.streams[index].missing = 0
                // no body, and behind it trailers
                let isEmpty = head.status != 204 && head.status != 304 && !session.streams[index].isHead
                if isEmpty, !endsStream { framing = .length(0) }
            }
            session.streams[index].peer = .body
            return .response(place, .head(framing))
        } catch {
            session.reset(index, for: error, ConnectionError.violation)
            session.flush(to: &out)
            return nil
        }
    }
}
