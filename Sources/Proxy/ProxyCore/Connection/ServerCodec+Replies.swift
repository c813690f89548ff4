import HTTPCodec
import Interception

/// Writes the commands of exchanges.
extension ServerCodec {
    /// What follows from a reply beyond the codec.
    enum Sequel {
        case nothing
        /// The stream carries another protocol from here on.
        case tunnel
        /// CONNECT is to be answered.
        case connect
        case call(FilterCall)
    }

    /// - Parameters:
    ///   - hasMore: further bytes of the client are here.
    ///   - hasEnded: the client sends no more than those.
    mutating func write(
        _ reply: ClientCommand, of cell: ExchangeCell, hasMore: Bool, hasEnded: Bool, _ out: inout CommandBuffer
    ) -> Sequel {
        let stream = cell.streamID
        // requests that have already arrived are still served
        let leaves = out.isLeaving && !hasMore
        switch reply {
        case .interim(let head, let isOwn):
            let via = isOwn ? [] : cell.exchange.engine.via(received: head.version)
            interim(head, via: via, on: stream, &out)
        case .head(let head, let framing, let how):
            var manner = Self.manner(of: head, how, in: cell, date: out.date)
            manner.closes = hasEnded && !hasMore
            manner.isLast = manner.isLast || leaves
            respond(head, framing, manner, on: stream, &out)
        case .own(let head, let body, let isLast):
            var manner = ResponseManner()
            manner.isOwn = true
            manner.isLast = isLast || leaves || Self.endsTunnel(cell.exchange, status: head.status, hasMore: hasMore)
            respond(head, .length(UInt64(body.count)), manner, on: stream, &out)
            _ = write(body.span, on: stream, &out)
            end(trailers: [], on: stream, &out)
        case .data(let bytes): write(bytes.span, of: cell, &out)
        case .end(let trailers): end(trailers: trailers, on: stream, &out)
        case .raw(let bytes):
            if writeRaw(bytes, &out) { cell.exchange.log.record.responseBytes += UInt64(bytes.count) }
        case .switching(let head):
            switching(head, via: cell.exchange.engine.via(received: head.version), on: stream, &out)
            return .tunnel
        // a connection of its own handles a tunnel in a stream
        case .connect where cell.stream != nil, .openOwnPages where cell.stream != nil: break
        case .connect: return .connect
        case .openOwnPages:
            keepOpen()
            connected(&out)
        case .call(let call): return .call(call)
        }
        return .nothing
    }

    /// Answers CONNECT.
    func connected(_ out: inout CommandBuffer) {
        out.client.append(literal: "HTTP/1.1 200 Connection Established\r\n\r\n")
    }

    /// Writes body bytes of an origin's response.
    func write(_ bytes: Span<UInt8>, of cell: ExchangeCell, _ out: inout CommandBuffer) {
        guard write(bytes, on: cell.streamID, &out) else { return }
        cell.exchange.log.record.responseBytes += UInt64(bytes.count)
        cell.exchange.log.capture.responseCame(bytes, total: &out.captured)
    }

    /// Whether to close after a CONNECT that was refused: bytes for the tunnel must not be read as a request. A client that
    /// must authenticate may retry on the connection, if no such bytes have come.
    private static func endsTunnel(_ exchange: borrowing Exchange, status: Int, hasMore: Bool) -> Bool {
        exchange.request.method == .connect && (status != 407 || hasMore)
    }

    /// The manner in which the head of a response is written.
    private static func manner(
        of head: borrowing ResponseHead, _ how: HeadManner, in cell: ExchangeCell, date: [UInt8]
    ) -> ResponseManner {
        var manner = ResponseManner()
        manner.isLast = how.isLast
        manner.isOwn = how.isOwn
        if how.isOwn { return manner }
        manner.via = cell.exchange.engine.via(received: head.version)
        if !head.fields.contains(.date) { manner.date = date }
        manner.lines = how.lines
        return manner
    }
}
