public import HTTPCodec

/// The client side of an HTTP/2 connection (RFC 9113) with concurrent requests.
///
/// A request with an upgrade (`Forwarding.upgrades`) is sent as an extended CONNECT (RFC 8441) if the peer supports it. Its
/// success is reported as a 101, and the following bytes as data. The response to CONNECT is `switched` as well.
public final class HTTP2Client: StreamClient {
    /// The limit of concurrent streams, whatever the peer allows.
    private static let maxStreams = 256
    /// The limit of cancelled requests. Peers end a connection with all its requests after many cancellations.
    private static let mostResets = 64

    public var head = ResponseHead()
    private let connection: HTTP2Connection
    private var lastPlace: UInt32 = 0
    /// The count of cancelled requests.
    private var resets = 0

    /// - Parameters:
    /// - limits: the head limit announced to the peer.
    /// - budget: shared by the loop's connections to origins.
    public init(limits: HeadLimits = HeadLimits(), budget: WindowBudget = WindowBudget()) {
        connection = HTTP2Connection(.client, maxStreams: Self.maxStreams, limits, budget)
    }

    public var trailers: [UInt8] { connection.trailers }

    // MARK: streams

    public var hasRoom: Bool {
        isReusable && connection.streams.count < maxStreams && connection.flow.windows.hasRoom
    }

    private var maxStreams: Int { min(Self.maxStreams, connection.nghttp2.peerMaxStreams) }

    public var isReusable: Bool { connection.nghttp2.maySendRequests && resets < Self.mostResets }

    public var terms: StreamTerms? {
        guard connection.isSettled else { return nil }
        return StreamTerms(maxStreams: maxStreams, takesUpgrades: connection.nghttp2.peerTakesUpgrades)
    }

    public var goAwayCode: StreamErrorCode? { connection.goAwayCode }

    public func begin() -> StreamID? {
        guard hasRoom else { return nil }
        // stream ids follow the order of sending, so the caller gets another number
        lastPlace &+= 1
        connection.add(0, StreamID(lastPlace))
        return StreamID(lastPlace)
    }

    public func reset(_ stream: StreamID, to out: inout [UInt8]) {
        guard let index = connection.streams.index(stream) else { return }
        guard connection.streams[index].id != 0 else { return connection.drop(index) }
        connection.streams[index].isForgotten = true
        connection.streams[index].peer = .ignored
        guard !connection.streams[index].isClosed else { return }
        resets += 1
        connection.nghttp2.reset(connection.streams[index].id, ConnectionError.unwanted)
        connection.flush(to: &out)
    }

    public func used(_ count: Int, of stream: StreamID, to out: inout [UInt8]) { connection.used(count, stream, &out) }

    public func takeTally() -> StreamTally { connection.takeTally() }

    public func waiting(on stream: StreamID) -> Int { connection.waiting(on: stream) }

    public func rest() {
        head = ResponseHead()
        connection.rest()
    }

    public func ping(to out: inout [UInt8]) {
        connection.nghttp2.ping()
        connection.flush(to: &out)
    }

    // MARK: requests

    public func send(
        _ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, on stream: StreamID, to out: inout [UInt8]
    ) {
        guard let index = connection.streams.index(stream), connection.streams[index].id == 0 else { return }
        let upgrade = forwarding.upgrades && connection.nghttp2.peerTakesUpgrades ? head.fields.first(.upgrade) : nil
        let isTunnel = upgrade != nil || head.method == .connect
        let endsStream = forwarding.framing == .none && !isTunnel
        connection.writer.fields.begin(request: head, upgrade: upgrade)
        connection.writer.fields.add(head.fields, forwarding, isUpgrade: upgrade != nil)
        if !isTunnel {
            switch forwarding.framing {
            case .length(let length): connection.writer.fields.add("content-length", decimal: length)
            case .none:
                if head.announcesLength
                    || head.method.givesBodyMeaning && head.method != .options
                        && head.method != .other
                {
                    connection.writer.fields.add("content-length", "0")
                }
            case .chunked, .untilClose: break
            }
        }
        connection.streams[index].isHead = head.method == .head
        connection.streams[index].isTunnel = isTunnel
        connection.streams[index].protocolName = upgrade.map(head.fields.value)
        connection.streams[index].outgoing.hasHead = true
        connection.streams[index].outgoing.isWritten = endsStream
        let id = connection.nghttp2.submit(&connection.writer.fields, head.fields.bytes, endsStream: endsStream)
        if id > 0 {
            connection.streams.name(index, id)
        } else {
            connection.drop(index)
            connection.signals.append(.refused(stream))
        }
        connection.flush(to: &out)
    }

    public func write(_ bytes: Span<UInt8>, on stream: StreamID, to out: inout [UInt8]) {
        guard let index = connection.streams.index(stream), connection.streams[index].takesBody else { return }
        connection.write(bytes, on: index, to: &out)
        connection.flush(to: &out)
    }

    public func end(trailers: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        guard let index = connection.streams.index(stream), connection.streams[index].takesBody else { return }
        // a request for a tunnel has no end of its own; the tunnel's data follows
        guard !connection.streams[index].isTunnel || connection.streams[index].isTold else { return }
        connection.writer.end(trailers, on: &connection.streams[index])
        connection.flush(to: &out)
    }

    // MARK: responses

    public func read(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8]
    ) throws(HTTPFault) -> StreamClientEvent {
        try connection.read(input, &position, now: now, limits, maxTrailerBytes: maxTrailerBytes, to: &out) {
            event($0, to: &$1)
        } ?? .needsMore
    }

    private func event(_ piece: HTTP2Connection.Piece, to out: inout [UInt8]) -> StreamClientEvent? {
        switch piece {
        case .head(let index, let endsStream): beginResponse(index, endsStream, &head, to: &out)
        case .data(let stream, let range): .response(stream, .data(range))
        case .end(let stream): .response(stream, .end)
        case .closed(let stream, let fault, let code, _):
            fault.map { .broken(stream, $0) } ?? .reset(stream, StreamErrorCode(rawValue: code))
        case .drained(let stream): .drained(stream)
        case .refused(let stream): .reset(stream, .refused)
        case .pong: .pong
        }
    }

    /// - Parameter head: the own property, passed inout to avoid a copy.
    private func beginResponse(
        _ index: Int, _ endsStream: Bool, _ head: inout ResponseHead, to out: inout [UInt8]
    ) -> StreamClientEvent? {
        let place = connection.streams[index].place
        do throws(HTTPFault) {
            try connection.fields.take(response: &head)
            if head.isInterim {
                if endsStream || head.fields.contains(.contentLength) { throw HTTPFault(.bodyNotAllowed, at: 0) }
                return .response(place, .interim)
            }
            connection.streams[index].isTold = true
            if connection.streams[index].isTunnel, head.status / 100 == 2 {
                connection.streams[index].peer = .body
                if let name = connection.streams[index].protocolName { head.becomeSwitch(to: name) }
                return .response(place, .switched)
            }
            var framing = try head.framing(answering: connection.streams[index].isHead ? .head : .get)
            if case .length(let length) = framing {
                if endsStream { throw HTTPFault(.lengthMismatch, at: 0) }
                connection.streams[index].missing = length
            } else if framing == .untilClose {
                framing = endsStream ? .none : .chunked
            } else {
                connection.streams[index].missing = 0
                // an empty body that trailers may follow
                let isEmpty = head.status != 204 && head.status != 304 && !connection.streams[index].isHead
                if isEmpty, !endsStream { framing = .length(0) }
            }
            connection.streams[index].peer = .body
            return .response(place, .head(framing))
        } catch {
            connection.reset(index, for: error)
            connection.flush(to: &out)
            return nil
        }
    }
}
