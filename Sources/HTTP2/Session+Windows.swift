import CNghttp2
import HTTPCodec

/// How much of bodies the peer may send.
extension Session {
    /// What the PINGs have in them by which it is found out how long the way is; those of others have zeros.
    private static let sample: [UInt8] = Array("usher/bw".utf8)

    /// So many bytes of body have come.
    /// - Returns: the place of their stream, where it is still known.
    func noteData(_ count: Int, of id: Int32) -> Int? {
        guard let index = streams.index(id: id) else {
            windows.shares.cameLate(count)
            return nil
        }
        windows.shares.came(count, &streams[index].window)
        if windows.shares.unused >= StreamWindow.first { tellUsed() }
        if !windows.sole.isHeld(by: id) { measure(count, of: id) }
        return index
    }

    private func measure(_ count: Int, of id: Int32) {
        if windows.growth.stream != id {
            // one that goes on keeps what it has
            guard windows.growth.stream == 0 || streams.index(id: windows.growth.stream) == nil else { return }
            windows.growth.begin(id, now: inbound.now)
        }
        guard windows.growth.came(count, now: inbound.now) else { return }
        outbound.pings += 1
        check(nghttp2_submit_ping(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), Self.sample))
    }

    /// A PING was answered.
    /// - Returns: true where it was one of those that tell how long the way is.
    func takeSample(_ data: [UInt8]) -> Bool {
        guard data == Self.sample else { return false }
        guard let index = streams.index(id: windows.growth.stream), streams[index].window.isOpen else { return true }
        if windows.growth.answered(streams[index].window, now: inbound.now) { widen(index) }
        return true
    }

    /// So many bytes that came have been used.
    /// - Parameter stream: where it is no more, its bytes count for the connection's window alone.
    func used(_ count: Int, of stream: StreamID) {
        guard pointer != nil, count > 0 else { return }
        check(nghttp2_session_consume_connection(pointer, count))
        defer { if windows.shares.unused >= StreamWindow.first { tellUsed() } }
        guard let index = streams.index(stream) else { return windows.shares.useLeft(count) }
        windows.shares.use(count, &streams[index].window)
        // who sends nothing more on it needs no more room there
        guard streams[index].window.isOpen else { return }
        check(nghttp2_session_consume_stream(pointer, streams[index].id, count))
        if streams[index].window.size > StreamWindow.most { tellUsed(of: index) }
        if streams[index].window.isTaken, streams[index].peer == .body { grow(index, most: StreamWindow.most) }
    }

    /// nghttp2 grants the connection anew what has been used once that is half of its window, which never comes where others hold
    /// most of that: then what has been used is granted as soon as less than that is left.
    private func tellUsed() {
        let unused = windows.shares.unused
        let size = Int(nghttp2_session_get_effective_local_window_size(pointer))
        tell(0, untold, atLeast: (size - unused + 1) / 2)
    }

    /// Over a long way it is granted in smaller pieces, the stream and the connection: half a window that waits to be told of is half a
    /// window that is not under way.
    private func tellUsed(of index: Int) {
        let window = streams[index].window
        let id = streams[index].id
        let untold = Int(nghttp2_session_get_stream_effective_recv_data_length(pointer, id)) - window.unused
        tell(id, untold, atLeast: window.size / 8)
        tell(0, self.untold, atLeast: window.size / 8)
    }

    /// Bytes of the connection that have been used and not been granted anew.
    private var untold: Int {
        Int(nghttp2_session_get_effective_recv_data_length(pointer)) - windows.shares.unused
    }

    private func tell(_ id: Int32, _ count: Int, atLeast least: Int) {
        guard count > 0, count >= least else { return }
        check(
            nghttp2_submit_window_update(
                pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, Int32(clamping: count)))
    }

    // MARK: larger ones

    private func grow(_ index: Int, most: Int) {
        guard let size = windows.shares.larger(streams[index].window, most: most) else { return }
        grow(index, to: size)
        if size == StreamWindow.most, windows.growth.outgrew(streams[index].id, now: inbound.now) { widen(index) }
    }

    private func grow(_ index: Int, to size: Int) {
        windows.shares.grow(&streams[index].window, to: size)
        setWindow(of: streams[index].id, size)
    }

    /// The window is what holds a stream up: it gets more of what the connection has, or all of a larger one.
    private func widen(_ index: Int) {
        let id = streams[index].id
        // nobody else's bytes are to hold it up, also of streams that have ended
        let isAlone = streams.count == 1 && windows.shares.unused == streams[index].window.unused
        // one that has still to send may have to be granted more before its own bytes are taken: the connection has to be read
        if side == .client, streams[index].outgoing.isSent, windows.sole.wants(id, isAlone: isAlone) {
            grow(index, to: SoleStream.window)
            return setWindow(of: 0, Self.connectionWindow + SoleStream.window)
        }
        let most = side == .server ? Self.connectionWindow : StreamWindow.most
        guard let size = windows.shares.larger(streams[index].window, most: most) else { return }
        windows.growth.grew()
        grow(index, to: size)
    }

    func setWindow(of id: Int32, _ size: Int) {
        check(
            nghttp2_session_set_local_window_size(
                pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, Int32(clamping: size)))
    }

    /// A stream has ended, as frames go.
    func endWindow(_ index: Int) {
        windows.shares.end(&streams[index].window)
        windows.sole.ended(streams[index].id, isWhole: streams[index].peerHasEnded)
    }

    /// Another stream may be begun beside one that needs, or has, the connection to itself.
    var hasRoomBesideSole: Bool {
        windows.sole.hasRoom(isIdle: streams.isEmpty && windows.shares.unused == 0)
    }
}
