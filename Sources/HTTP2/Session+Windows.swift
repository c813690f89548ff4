import CNghttp2
import HTTPCodec

/// How much of bodies the peer may send.
extension Session {
    /// What the PINGs have in them by which the way is measured; those of others have zeros.
    private static let sample: [UInt8] = Array("usher/bw".utf8)

    /// So many bytes of body have come.
    /// - Returns: the place of their stream, where it is still known.
    func noteData(_ count: Int, of id: Int32) -> Int? {
        let index = streams.index(id: id)
        if let index { windows.came(count, &streams[index].window) } else { windows.came(count, &ended) }
        if bandwidth.came(count, now: inbound.now) {
            outbound.pings += 1
            check(nghttp2_submit_ping(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), Self.sample))
        }
        return index
    }

    /// A PING was answered.
    /// - Returns: true where it was one of those that measure the way.
    func takeSample(_ data: [UInt8]) -> Bool {
        guard data == Self.sample else { return false }
        bandwidth.answered(now: inbound.now)
        return true
    }

    /// So many bytes that came have been used.
    /// - Parameter stream: where it is no more, its bytes count for the connection's window alone.
    func used(_ count: Int, of stream: StreamID) {
        guard let pointer, count > 0 else { return }
        let index = streams.index(stream)
        if let index { windows.use(count, &streams[index].window) } else { windows.use(count, &ended) }
        // what was only padding was used with it
        grant(
            0, Int(nghttp2_session_get_effective_recv_data_length(pointer)) - windows.unused, atLeast: FlowWindows.grain
        )
        // who sends nothing more on a stream needs no more room there
        guard let index, !streams[index].isClosed, !streams[index].peerHasEnded else { return }
        let (id, window) = (streams[index].id, streams[index].window)
        if bandwidth.window > window.size, window.isOutgrown { grow(index) }
        // half a window that waits to be told of is half a window that is not under way
        let part = window.size > FlowWindows.stream ? 8 : 2
        grant(
            id, Int(nghttp2_session_get_stream_effective_recv_data_length(pointer, id)) - window.unused,
            atLeast: window.size / part)
    }

    private func grant(_ id: Int32, _ count: Int, atLeast least: Int) {
        guard count >= least else { return }
        check(nghttp2_submit_window_update(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, Int32(clamping: count)))
    }

    /// The window is what holds a stream up.
    private func grow(_ index: Int) {
        guard windows.grow(&streams[index].window, to: bandwidth.window) > 0 else { return }
        setWindow(of: streams[index].id, streams[index].window.size)
    }

    /// - Parameter id: a stream; 0: the connection.
    func setWindow(of id: Int32, _ size: Int) {
        check(
            nghttp2_session_set_local_window_size(
                pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, Int32(clamping: size)))
    }
}
