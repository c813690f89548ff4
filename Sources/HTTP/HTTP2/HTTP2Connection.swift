import CNghttp2
import HTTPCodec

enum ConnectionSide { case server, client }

/// An HTTP/2 connection as both sides use it: streams, reading, writing, and errors.
///
/// nghttp2 calls back into it. Received bytes go in frame by frame and produce signals; outgoing bytes are appended to the
/// caller's buffer.
final class HTTP2Connection {
    let side: ConnectionSide
    let nghttp2: NGHTTP2Session
    var streams = OpenStreams()
    var signals = SignalQueue()
    var frames: FrameReader
    var fields = FieldReader()
    var writer: MessageWriter
    var flow: FlowControl
    var limit: StreamLimit
    var floods = FloodGuard()
    var tally = StreamTally()
    /// The trailers of the last message that ended.
    var trailers: [UInt8] = []
    /// True once the peer's SETTINGS have arrived.
    var isSettled = false
    /// The error code of the peer's GOAWAY.
    var goAwayCode: StreamErrorCode?
    var now = 0

    /// - Parameters:
    /// - maxStreams: the limit of concurrent streams of the side that opens them.
    /// - limits: the announced head limit; `read` has the limits that are enforced.
    init(_ side: ConnectionSide, maxStreams: Int, _ limits: HeadLimits, _ budget: WindowBudget) {
        self.side = side
        let most = UInt32(clamping: maxStreams)
        nghttp2 = NGHTTP2Session(side)
        frames = FrameReader(preface: side == .server ? Int(NGHTTP2_CLIENT_MAGIC_LEN) : 0)
        writer = MessageWriter(nghttp2)
        flow = FlowControl(nghttp2, FlowWindows(maxStreams: Int(most), budget))
        // a server opens no streams towards a client
        limit = StreamLimit(side == .server ? most : 0)
        nghttp2.begin(
            for: self, maxFieldBytes: UInt32(clamping: limits.bytes), window: flow.windows.connection)
    }

    deinit { flow.windows.end() }

    // MARK: streams

    func add(_ id: Int32, _ place: StreamID) {
        var state = StreamState(id: id, place: place)
        flow.windows.begin(&state.window)
        streams.add(state)
    }

    /// Removes a stream that nghttp2 does not know.
    func drop(_ index: Int) {
        flow.windows.end(&streams[index].window)
        streams.remove(index)
    }

    /// Records received bytes as used.
    func used(_ count: Int, _ stream: StreamID, _ out: inout [UInt8]) {
        flow.used(count, on: streams.index(stream), &streams)
        flush(to: &out)
    }

    /// The bytes that wait for the peer's window.
    func waiting(on stream: StreamID) -> Int { streams.index(stream).map { streams[$0].outgoing.count } ?? 0 }

    // MARK: errors

    /// Resets a stream for an error of the peer.
    func reset(_ index: Int, for fault: HTTPFault, _ error: UInt32 = ConnectionError.violation) {
        streams[index].fault = fault
        streams[index].peer = .ignored
        nghttp2.reset(streams[index].id, error)
    }

    /// Ends the connection with GOAWAY.
    func fail(_ fault: HTTPFault, _ error: UInt32) {
        if error == ConnectionError.calm, nghttp2.failure == nil { tally.floods += 1 }
        nghttp2.fail(fault, error)
    }

    func count(_ flood: Flood) {
        if !floods.takes(flood, now: now) { fail(flood.fault, ConnectionError.calm) }
    }

    func takeTally() -> StreamTally {
        defer { tally = StreamTally() }
        return tally
    }

    // MARK: idle memory

    /// Releases memory that is needed only during requests, if there are none.
    func rest() {
        trailers = []
        forgetOver()
        guard streams.isEmpty, signals.isEmpty, nghttp2.failure == nil, frames.isIdle else { return }
        streams = OpenStreams()
        signals = SignalQueue()
        fields.rest()
        writer.rest()
        nghttp2.rest()
    }

    /// Removes signals of streams that ended normally, because nobody is told about them. Other signals stay for the next read.
    private func forgetOver() {
        while let signal = signals.first {
            switch signal {
            case .closed(let id, _):
                if let index = streams.index(id: id) {
                    guard streams[index].isOver(for: side) else { return }
                    streams.remove(index)
                }
            case .drained where side == .server: break
            case .drained, .fields, .data, .ended, .refused, .pong: return
            }
            _ = signals.popFirst()
        }
    }
}
