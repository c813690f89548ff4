/// Receives flow control: grants the peer the bytes that were used, and larger windows on long paths.
struct FlowControl {
    /// The payload of PINGs that measure the path; others contain zeros.
    private static let sample: [UInt8] = Array("usher/bw".utf8)

    private let nghttp2: NGHTTP2Session
    var windows: FlowWindows
    /// The unused bytes of streams that have ended.
    private var ended = StreamWindow()
    private var bandwidth = BandwidthEstimator()

    init(_ nghttp2: NGHTTP2Session, _ windows: FlowWindows) {
        self.nghttp2 = nghttp2
        self.windows = windows
    }

    /// Records body bytes received.
    /// - Parameter index: the index of the stream; nil if it has ended.
    mutating func came(_ count: Int, on index: Int?, _ streams: inout OpenStreams, now: Int) {
        if let index { windows.came(count, &streams[index].window) } else { windows.came(count, &ended) }
        if bandwidth.came(count, now: now) { nghttp2.ping(Self.sample) }
    }

    /// Handles an acknowledged PING.
    /// - Returns: true if it was a measurement.
    mutating func takeSample(_ data: [UInt8], now: Int) -> Bool {
        guard data == Self.sample else { return false }
        bandwidth.answered(now: now)
        return true
    }

    /// Records received bytes as used.
    /// - Parameter index: the index of the stream; nil if it has ended, so that the bytes count for the connection only.
    mutating func used(_ count: Int, on index: Int?, _ streams: inout OpenStreams) {
        guard count > 0 else { return }
        if let index { windows.use(count, &streams[index].window) } else { windows.use(count, &ended) }
        // padding counts as used too
        grant(0, butNot: windows.unused, atLeast: FlowWindows.grain)
        // a stream that has ended needs no more window
        guard let index, !streams[index].isClosed, !streams[index].peerHasEnded else { return }
        let (id, window) = (streams[index].id, streams[index].window)
        if bandwidth.window > window.size, window.isOutgrown,
            windows.grow(&streams[index].window, to: bandwidth.window) > 0
        {
            nghttp2.setWindow(of: id, streams[index].window.size)
        }
        // larger windows are granted in smaller parts, so that more of them is in flight
        let part = window.size > FlowWindows.stream ? 8 : 2
        grant(id, butNot: window.unused, atLeast: window.size / part)
    }

    private func grant(_ id: Int32, butNot unused: Int, atLeast least: Int) {
        let count = nghttp2.ungranted(on: id) - unused
        if count >= least { nghttp2.grant(count, on: id) }
    }
}
