import HTTPCodec

/// Grants the peer as much as was used of what it sent, and more where a way is long.
struct FlowControl {
    /// What the PINGs have in them by which the way is measured; those of others have zeros.
    private static let sample: [UInt8] = Array("usher/bw".utf8)

    private let nghttp2: NGHTTP2Session
    var windows: FlowWindows
    /// What waits of streams that are known no more.
    private var ended = StreamWindow()
    private var bandwidth = BandwidthEstimator()

    init(_ nghttp2: NGHTTP2Session, _ windows: FlowWindows) {
        self.nghttp2 = nghttp2
        self.windows = windows
    }

    /// So many bytes of body have come.
    /// - Parameter index: the place of their stream; nil where it is known no more.
    mutating func came(_ count: Int, on index: Int?, _ streams: inout OpenStreams, now: Int) {
        if let index { windows.came(count, &streams[index].window) } else { windows.came(count, &ended) }
        if bandwidth.came(count, now: now) { nghttp2.ping(Self.sample) }
    }

    /// A PING was answered.
    /// - Returns: true where it was one of those that measure the way.
    mutating func takeSample(_ data: [UInt8], now: Int) -> Bool {
        guard data == Self.sample else { return false }
        bandwidth.answered(now: now)
        return true
    }

    /// So many bytes that came have been used.
    /// - Parameter index: likewise; such bytes count for the connection's window alone.
    mutating func used(_ count: Int, on index: Int?, _ streams: inout OpenStreams) {
        guard count > 0 else { return }
        if let index { windows.use(count, &streams[index].window) } else { windows.use(count, &ended) }
        // what was only padding was used with it
        grant(0, butNot: windows.unused, atLeast: FlowWindows.grain)
        // who sends nothing more on a stream needs no more room there
        guard let index, !streams[index].isClosed, !streams[index].peerHasEnded else { return }
        let (id, window) = (streams[index].id, streams[index].window)
        if bandwidth.window > window.size, window.isOutgrown,
            windows.grow(&streams[index].window, to: bandwidth.window) > 0
        {
            nghttp2.setWindow(of: id, streams[index].window.size)
        }
        // half a window that waits to be told of is half a window that is not under way
        let part = window.size > FlowWindows.stream ? 8 : 2
        grant(id, butNot: window.unused, atLeast: window.size / part)
    }

    private func grant(_ id: Int32, butNot unused: Int, atLeast least: Int) {
        let count = nghttp2.ungranted(on: id) - unused
        if count >= least { nghttp2.grant(count, on: id) }
    }
}
