public import HTTPCodec

/// The server side of an HTTP/2 connection (RFC 9113) with concurrent requests.
///
/// Requests have the form of HTTP/1 proxy requests: the target is the whole URL, also inside tunnels, and Host matches it.
/// CONNECT has an authority only. An extended CONNECT (RFC 8441) becomes a GET with `Upgrade` and `Connection`; the response is
/// 101 or 2xx. The bytes of both arrive as data.
///
/// An error in one request ends only its stream. `ResponseManner` does not close the connection; `leave` does.
///
/// An invalid head is reported as `broken` and may be answered. A later violation resets the stream.
public final class HTTP2Server: StreamServer {
    public var head = RequestHead()
    let connection: HTTP2Connection

    /// - Parameters:
    /// - maxStreams: the limit of the client's concurrent streams.
    /// - limits: the head limit announced to the client.
    /// - budget: shared by the loop's clients.
    public init(maxStreams: Int = 100, limits: HeadLimits = HeadLimits(), budget: WindowBudget = WindowBudget()) {
        connection = HTTP2Connection(.server, maxStreams: maxStreams, limits, budget)
    }

    public var trailers: [UInt8] { connection.trailers }

    // MARK: requests

    public func read(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8]
    ) throws(HTTPFault) -> StreamServerEvent {
        try connection.read(input, &position, now: now, limits, maxTrailerBytes: maxTrailerBytes, to: &out) {
            piece, _ in
            event(piece)
        } ?? .needsMore
    }

    private func event(_ piece: HTTP2Connection.Piece) -> StreamServerEvent? {
        switch piece {
        case .head(let index, let endsStream): beginRequest(index, endsStream, &head)
        case .data(let stream, let range): .data(stream, range)
        case .end(let stream): .end(stream)
        case .closed(let stream, let fault, _, true): fault.map { .violated(stream, $0) } ?? .reset(stream)
        case .closed, .drained, .pong, .refused: nil
        }
    }

    /// - Parameter head: the own property, passed inout to avoid a copy.
    private func beginRequest(_ index: Int, _ endsStream: Bool, _ head: inout RequestHead) -> StreamServerEvent {
        let place = connection.streams[index].place
        connection.streams[index].isTold = true
        connection.streams[index].peer = .ignored
        do throws(HTTPFault) {
            try connection.fields.take(request: &head)
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
            connection.streams[index].peer = .body
            connection.streams[index].missing = missing
            connection.streams[index].isTunnel = isTunnel
            connection.streams[index].isHead = head.method == .head
            return .head(place, framing)
        } catch {
            return .broken(place, error)
        }
    }

    // MARK: responses

    public func interim(_ head: borrowing ResponseHead, via: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        // HTTP/2 has no 101
        guard let index = connection.streams.index(stream), connection.streams[index].takesHead, head.isInterim else {
            return
        }
        connection.writer.fields.begin(response: head.status)
        connection.writer.fields.add(head.fields, isOwn: false, keepsLength: false)
        if !via.isEmpty { connection.writer.fields.add("via", via) }
        connection.writer.submitFields(head.fields.bytes, on: connection.streams[index].id, endsStream: false)
    }

    public func respond(
        _ head: borrowing ResponseHead, _ framing: BodyFraming, _ manner: ResponseManner, on stream: StreamID,
        to out: inout [UInt8]
    ) {
        guard let index = connection.streams.index(stream), connection.streams[index].takesHead else { return }
        let opensTunnel = connection.streams[index].isTunnel && (head.status == 101 || head.status / 100 == 2)
        let hasNoBody =
            !opensTunnel && (connection.streams[index].isHead || head.status == 204 || head.status == 304)
        let endsStream = hasNoBody || framing == .none && !opensTunnel
        let keepsLength = hasNoBody && head.status != 204
        // a 101 of HTTP/1 becomes a success of the extended CONNECT (RFC 8441 §5)
        connection.writer.fields.begin(response: head.status == 101 ? 200 : head.status)
        connection.writer.fields.add(head.fields, isOwn: manner.isOwn, keepsLength: keepsLength)
        if !hasNoBody, !opensTunnel {
            switch framing {
            case .length(let length): connection.writer.fields.add("content-length", decimal: length)
            case .none: connection.writer.fields.add("content-length", "0")
            case .chunked, .untilClose: break
            }
        }
        if !manner.via.isEmpty { connection.writer.fields.add("via", manner.via) }
        if !manner.date.isEmpty { connection.writer.fields.add("date", manner.date) }
        connection.writer.fields.add(lines: manner.lines)
        connection.streams[index].outgoing.hasHead = true
        connection.streams[index].outgoing.isWritten = endsStream
        connection.writer.submitFields(head.fields.bytes, on: connection.streams[index].id, endsStream: endsStream)
    }

    public func write(_ bytes: Span<UInt8>, on stream: StreamID, to out: inout [UInt8]) -> Bool {
        guard let index = connection.streams.index(stream), connection.streams[index].takesBody else { return false }
        connection.write(bytes, on: index, to: &out)
        return true
    }

    public func end(trailers: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        guard let index = connection.streams.index(stream), connection.streams[index].takesBody else { return }
        connection.writer.end(trailers, on: &connection.streams[index])
    }

    public func flush(to out: inout [UInt8]) {
        if connection.writer.isDue { connection.flush(to: &out) }
    }

    // MARK: streams

    public func reset(_ stream: StreamID, _ reason: StreamReset, to out: inout [UInt8]) {
        guard let index = connection.streams.index(stream) else { return }
        connection.streams[index].isForgotten = true
        guard !connection.streams[index].isClosed else { return }
        connection.streams[index].peer = .ignored
        let id = connection.streams[index].id
        if reason == .complete, connection.streams[index].outgoing.isWritten {
            // queued bytes are sent first
            connection.streams[index].outgoing.isLast = true
            if connection.streams[index].outgoing.isSent { connection.nghttp2.reset(id, ConnectionError.none) }
        } else {
            connection.nghttp2.reset(id, ConnectionError.failed)
        }
        connection.flush(to: &out)
    }

    public func used(_ count: Int, of stream: StreamID, to out: inout [UInt8]) { connection.used(count, stream, &out) }

    public func takeTally() -> StreamTally { connection.takeTally() }

    public func waiting(on stream: StreamID) -> Int { connection.waiting(on: stream) }

    public func rest() {
        head = RequestHead()
        connection.rest()
    }

    public func leave(to out: inout [UInt8]) {
        connection.nghttp2.leave()
        connection.flush(to: &out)
    }
}
