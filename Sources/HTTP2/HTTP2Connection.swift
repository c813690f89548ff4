import CNghttp2
import HTTPCodec

enum ConnectionSide { case server, client }

/// An HTTP/2 connection, as both its sides have it: streams, what is read and written on them, and what ends them or all.
///
/// nghttp2 calls it back. Bytes that came go in a frame at a time, and make signals; bytes that are to go out are appended to
/// what the caller has for them.
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
    /// Of the message whose end was told of last.
    var trailers: [UInt8] = []
    /// The peer has said what it takes.
    var isSettled = false
    /// Why the peer leaves.
    var farewell: StreamErrorCode?
    var now = 0

    /// - Parameters:
    ///   - maxStreams: how many streams the side that begins them may have begun at a time.
    ///   - limits: what the peer is told of how large a head may be; what is looked at are the limits of `read`.
    init(_ side: ConnectionSide, maxStreams: Int, _ limits: HeadLimits, _ budget: WindowBudget) {
        self.side = side
        let most = UInt32(clamping: maxStreams)
        nghttp2 = NGHTTP2Session(side)
        frames = FrameReader(preface: side == .server ? Int(NGHTTP2_CLIENT_MAGIC_LEN) : 0)
        writer = MessageWriter(nghttp2)
        flow = FlowControl(nghttp2, FlowWindows(maxStreams: Int(most), budget))
        // a client's peer begins none
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

    /// Takes back that a stream began of which nghttp2 knows nothing.
    func drop(_ index: Int) {
        flow.windows.end(&streams[index].window)
        streams.remove(index)
    }

    /// So many bytes that came have been used.
    func used(_ count: Int, _ stream: StreamID, _ out: inout [UInt8]) {
        flow.used(count, on: streams.index(stream), &streams)
        flush(to: &out)
    }

    /// Bytes that wait for the peer's window.
    func waiting(on stream: StreamID) -> Int { streams.index(stream).map { streams[$0].outgoing.count } ?? 0 }

    // MARK: what ends them

    /// Ends a stream for what the peer did.
    func reset(_ index: Int, for fault: HTTPFault, _ error: UInt32 = ConnectionError.violation) {
        streams[index].fault = fault
        streams[index].peer = .ignored
        nghttp2.reset(streams[index].id, error)
    }

    /// Ends the connection, and tells the peer so.
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

    // MARK: between two messages

    /// Gives back the memory that is needed while something is under way alone, where nothing is.
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

    /// That a stream has ended is told with what comes next. Of those whose messages were whole nothing is told: they need not wait
    /// for that.
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
