import HTTP1
import HTTPCodec

/// Has the core see streams of messages where the wire carries HTTP/1: each request is a stream of its own, and so is the
/// response to it.
final class MessageServer: StreamServer {
    var head = RequestHead()
    private(set) var trailers: [UInt8] = []
    /// How often it was told to give memory back.
    private(set) var rests = 0
    /// The request that is being read.
    private var reading = HTTP1Server()
    private var isInBody = false
    private var last: UInt32 = 0
    /// The codecs of requests that are being answered.
    private var codecs: [StreamID: HTTP1Server] = [:]
    /// Bytes of a head that is not whole.
    private var pending: [UInt8] = []
    private var isLost = false
    /// Streams that the client gives up.
    var cancelled: [StreamID] = []
    /// Streams whose response has begun.
    private var begun: Set<StreamID> = []

    func read(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8]
    ) throws(HTTPFault) -> StreamServerEvent {
        if let stream = cancelled.popLast() { return .reset(stream) }
        if isLost { position = input.count }
        guard isInBody else { return try readHead(input, &position, limits, maxTrailerBytes) }
        let stream = StreamID(last)
        if reading.isComplete { return complete(stream) }
        do throws(HTTPFault) {
            switch try reading.readBody(input, &position) {
            case .data(let range):
                keep(stream)
                return .data(stream, range)
            case .end: return complete(stream)
            case .needsMore: return .needsMore
            }
        } catch {
            isLost = true
            return .reset(stream)
        }
    }

    private func readHead(
        _ input: Span<UInt8>, _ position: inout Int, _ limits: HeadLimits, _ maxTrailerBytes: Int
    ) throws(HTTPFault) -> StreamServerEvent {
        guard position < input.count else { return .needsMore }
        let before = pending.count
        for index in position..<input.count { pending.append(input[index]) }
        let stream = StreamID(last + 1)
        do throws(HTTPFault) {
            guard let used = try reading.readHead(pending.span, into: &head, limits: limits) else {
                position = input.count
                return .needsMore
            }
            position += used - before
            pending = []
            last += 1
            let framing = try reading.begin(head, maxTrailerBytes: maxTrailerBytes)
            isInBody = true
            keep(stream)
            return .head(stream, framing)
        } catch {
            isLost = true
            last += 1
            reading.giveUpHead()
            keep(stream)
            return .broken(stream, error)
        }
    }

    private func complete(_ stream: StreamID) -> StreamServerEvent {
        trailers = reading.trailers
        keep(stream)
        isInBody = false
        reading = HTTP1Server()
        return .end(stream)
    }

    /// What is answered before it has come whole is the last on its connection; what has is answered by what was read.
    private func keep(_ stream: StreamID) {
        if !begun.contains(stream) { codecs[stream] = reading }
    }

    func interim(_ head: borrowing ResponseHead, via: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        codecs[stream]?.interim(head, via: via, to: &out)
    }

    func respond(
        _ head: borrowing ResponseHead, _ framing: BodyFraming, _ manner: ResponseManner, on stream: StreamID,
        to out: inout [UInt8]
    ) {
        begun.insert(stream)
        codecs[stream]?.respond(head, framing, manner, to: &out)
    }

    func write(_ bytes: Span<UInt8>, on stream: StreamID, to out: inout [UInt8]) -> Bool {
        guard let codec = codecs[stream], !codec.writesNothing else { return false }
        codec.write(bytes, to: &out)
        return true
    }

    func end(trailers: [UInt8], on stream: StreamID, to out: inout [UInt8]) {
        codecs[stream]?.end(trailers: trailers, to: &out)
    }

    func flush(to out: inout [UInt8]) {}

    func reset(_ stream: StreamID, _ reason: StreamReset, to out: inout [UInt8]) { codecs[stream] = nil }
    func used(_ count: Int, of stream: StreamID, to out: inout [UInt8]) {}
    func waiting(on stream: StreamID) -> Int { 0 }
    func takeTally() -> StreamTally { StreamTally() }
    func rest() { rests += 1 }
    func leave(to out: inout [UInt8]) {}
}
