import HTTPCodec

/// The client's side of a connection that speaks in frames.
final class FrameClient: StreamClient {
    var head = ResponseHead()
    private(set) var trailers: [UInt8] = []
    private(set) var isReusable = true
    private var reader = FrameReader()
    private var writer = FrameWriter()
    private var last: UInt32 = 0
    /// Streams whose response has not come whole, and what was asked.
    private var asked: [UInt32: HTTPCodec.Method] = [:]

    private(set) var terms: StreamTerms?
    private(set) var goAwayCode: StreamErrorCode?

    var hasRoom: Bool { isReusable && asked.count < terms?.maxStreams ?? 100 }

    func begin() -> StreamID? {
        guard hasRoom else { return nil }
        last += 1
        asked[last] = .get
        writer.begin(last)
        return StreamID(last)
    }

    func send(
        _ head: borrowing RequestHead, _ forwarding: Forwarding, on stream: StreamID, to out: inout [UInt8]
    ) {
        var text: [UInt8] = []
        // the frames say where a body ends
        var forwarding = forwarding
        if forwarding.framing == .chunked { forwarding.framing = .none }
        head.write(to: &text, forwarding)
        asked[stream.number] = head.method
        out += Frame(.head, stream.number, text).written
    }

    func write(_ bytes: Span<UInt8>, on stream: StreamID, to out: inout [UInt8]) {
        writer.write(bytes, stream.number, to: &out)
    }

    func end(trailers: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        writer.end(trailers, stream.number, to: &out)
    }

    func reset(_ stream: StreamID, to out: inout [UInt8]) {
        guard asked.removeValue(forKey: stream.number) != nil || writer.isOpen(stream.number) else { return }
        writer.drop(stream.number)
        out += Frame(.reset, stream.number, "unwanted").written
    }

    func read(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8]
    ) throws(HTTPFault) -> StreamClientEvent {
        while let piece = try reader.nextPiece(input, &position) {
            guard case .frame(let frame) = piece else {
                if case .data(let stream, let range) = piece { return .response(StreamID(stream), .data(range)) }
                continue
            }
            let stream = StreamID(frame.stream)
            switch frame.kind {
            case .head:
                guard let method = asked[frame.stream] else { continue }
                do throws(HTTPFault) {
                    var parser = HeadParser()
                    guard try parser.parse(frame.payload.span, into: &head, limits: limits) != nil else {
                        return .broken(stream, HTTPFault(.badStatusLine, at: 0))
                    }
                    if head.isInterim { return .response(stream, .interim) }
                    return .response(stream, .head(try head.framing(answering: method)))
                } catch {
                    return .broken(stream, error)
                }
            case .end:
                guard asked.removeValue(forKey: frame.stream) != nil else { continue }
                trailers = frame.payload
                return .response(stream, .end)
            case .reset:
                asked[frame.stream] = nil
                writer.drop(frame.stream)
                return .reset(stream, frame.text == "untouched" ? .refused : .cancelled)
            case .credit: if writer.grant(frame.count, frame.stream, to: &out) { return .drained(stream) }
            case .leave:
                isReusable = false
                goAwayCode = StreamErrorCode.none
            case .limit: terms = StreamTerms(maxStreams: frame.count)
            case .pong: return .pong
            case .data, .ping: break
            }
        }
        return .needsMore
    }

    func used(_ count: Int, of stream: StreamID, to out: inout [UInt8]) {
        out += Frame.credit(count, stream.number).written
    }

    // its windows are what bounds it

    func ping(to out: inout [UInt8]) { out += Frame(.ping, 0).written }

    func takeTally() -> StreamTally { StreamTally() }
    func rest() {}
    func waiting(on stream: StreamID) -> Int { writer.waiting(stream.number) }
}
