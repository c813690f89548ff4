import HTTPCodec

/// The server's side of a connection that speaks in frames.
final class FrameServer: StreamServer {
    var head = RequestHead()
    private(set) var trailers: [UInt8] = []
    private var reader = FrameReader()
    private var writer = FrameWriter()
    private var isLeaving = false
    private var bodiless: Set<UInt32> = []

    func read(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8]
    ) throws(HTTPFault) -> StreamServerEvent {
        while let piece = try reader.nextPiece(input, &position) {
            guard case .frame(let frame) = piece else {
                if case .data(let stream, let range) = piece { return .data(StreamID(stream), range) }
                continue
            }
            let stream = StreamID(frame.stream)
            switch frame.kind {
            case .head:
                if isLeaving {
                    out += Frame(.reset, frame.stream).written
                    continue
                }
                writer.begin(frame.stream)
                do throws(HTTPFault) {
                    var parser = HeadParser()
                    guard try parser.parse(frame.payload.span, into: &head, limits: limits) != nil else {
                        return .broken(stream, HTTPFault(.badRequestLine, at: 0))
                    }
                    if head.method == .head { bodiless.insert(frame.stream) }
                    return .head(stream, try head.framing())
                } catch {
                    return .broken(stream, error)
                }
            case .end:
                trailers = frame.payload
                return .end(stream)
            case .reset:
                writer.drop(frame.stream)
                return .reset(stream)
            case .credit: _ = writer.grant(frame.count, frame.stream, to: &out)
            case .leave, .data, .limit, .ping, .pong: break
            }
        }
        return .needsMore
    }

    func interim(_ head: borrowing ResponseHead, via: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        var text: [UInt8] = []
        head.write(to: &text, Forwarding(framing: .none))
        out += Frame(.head, stream.number, text).written
    }

    func respond(
        _ head: borrowing ResponseHead, _ framing: BodyFraming, _ manner: ResponseManner, on stream: StreamID,
        to out: inout [UInt8]
    ) {
        var text: [UInt8] = []
        var forwarding = Forwarding(framing: framing == .chunked || framing == .untilClose ? .none : framing)
        forwarding.via = manner.via
        forwarding.date = manner.date
        forwarding.isOwn = manner.isOwn
        head.write(to: &text, forwarding)
        out += Frame(.head, stream.number, text).written
        if head.status == 204 || head.status == 304 { bodiless.insert(stream.number) }
    }

    func write(_ bytes: Span<UInt8>, on stream: StreamID, to out: inout [UInt8]) -> Bool {
        if bodiless.contains(stream.number) { return false }
        writer.write(bytes, stream.number, to: &out)
        return true
    }

    func end(trailers: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        writer.end(trailers, stream.number, to: &out)
    }

    func flush(to out: inout [UInt8]) {}

    func reset(_ stream: StreamID, _ reason: StreamReset, to out: inout [UInt8]) {
        if reason == .failed { writer.drop(stream.number) }
        out += Frame(.reset, stream.number, reason == .failed ? "failed" : "").written
    }

    func used(_ count: Int, of stream: StreamID, to out: inout [UInt8]) {
        out += Frame.credit(count, stream.number).written
    }

    func takeTally() -> StreamTally { StreamTally() }
    func rest() {}
    func waiting(on stream: StreamID) -> Int { writer.waiting(stream.number) }

    func leave(to out: inout [UInt8]) {
        isLeaving = true
        out += Frame(.leave, 0).written
    }
}
