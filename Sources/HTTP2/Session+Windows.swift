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
        let before = streams[index].window.received
        windows.shares.came(count, &streams[index].window)
        if before <= windows.shares.first / 2 { growToUsual(index, before: before) }
        if windows.shares.unused >= StreamWindow.usual { tellUsed() }
        if !windows.sole.isHeld(by: id), windows.wide != .open(id) { measure(count, of: id) }
        return index
    }

    private func measure(_ count: Int, of id: Int32) {
        if windows.growth.stream != id {
            // one that goes on keeps what it has
            let isOver = streams.index(id: windows.growth.stream) == nil
            let received = streams.index(id: id).map { streams[$0].window.received } ?? 0
            guard windows.growth.isFree(for: received, isOver: isOver, now: inbound.now) else { return }
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
        let index = streams.index(id: windows.growth.stream).flatMap { streams[$0].window.isOpen ? $0 : nil }
        let isHeldUp = windows.growth.answered(index.map { streams[$0].window }, now: inbound.now)
        if isHeldUp, let index { widen(index) }
        return true
    }

    /// So many bytes that came have been used.
    /// - Parameter stream: where it is no more, its bytes count for the connection's window alone.
    func used(_ count: Int, of stream: StreamID) {
        guard pointer != nil, count > 0 else { return }
        check(nghttp2_session_consume_connection(pointer, count))
        defer {
            if windows.shares.unused >= StreamWindow.usual { tellUsed() }
            if windows.wide != .none { narrow() }
        }
        guard let index = streams.index(stream) else { return windows.shares.useLeft(count) }
        windows.shares.use(count, &streams[index].window)
        // who sends nothing more on it needs no more room there
        guard streams[index].window.isOpen else { return }
        check(nghttp2_session_consume_stream(pointer, streams[index].id, count))
        if streams[index].window.size > StreamWindow.most { tellUsed(of: index) }
        // until then nghttp2 waits for half of what the peer has without being told
        if !inbound.isAcknowledged {
            tell(streams[index].id, untold(of: index), atLeast: streams[index].window.size / 2)
        }
        let window = streams[index].window
        let missing = streams[index].missing ?? .max
        if window.isTaken, streams[index].peer == .body, missing > window.size { grow(index, most: StreamWindow.most) }
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
        tell(id, untold(of: index), atLeast: window.size / 8)
        tell(0, untold, atLeast: window.size / 8)
    }

    /// The peer knows what streams begin with. nghttp2 thought that it had more until now, of which what was used was not half.
    func tellUsedOfAll() {
        for index in streams.indices where streams[index].window.isOpen {
            tell(streams[index].id, untold(of: index), atLeast: streams[index].window.size / 2)
        }
    }

    /// Bytes of the connection that have been used and not been granted anew.
    private var untold: Int {
        Int(nghttp2_session_get_effective_recv_data_length(pointer)) - windows.shares.unused
    }

    /// The same of a stream.
    private func untold(of index: Int) -> Int {
        let received = nghttp2_session_get_stream_effective_recv_data_length(pointer, streams[index].id)
        return Int(received) - streams[index].window.unused
    }

    private func tell(_ id: Int32, _ count: Int, atLeast least: Int) {
        guard count > 0, count >= least else { return }
        check(
            nghttp2_submit_window_update(
                pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, Int32(clamping: count)))
    }

    // MARK: larger ones

    /// A body has begun: half of what its stream began with has come, and that may be too little for all of it.
    /// - Parameter before: bytes that had come before these.
    private func growToUsual(_ index: Int, before: Int) {
        let window = streams[index].window
        guard window.isOpen, window.received > windows.shares.first / 2, streams[index].peer == .body else { return }
        // what is more than any window is as good as all
        let size = streams[index].missing.map { Int(min($0, UInt64(StreamWindow.most))) + before } ?? .max
        guard size > windows.shares.first else { return }
        windows.foresight.needed()
        if size > window.size, let larger = windows.shares.usual(window) { grow(index, to: larger) }
    }

    /// A request has gone out. Where the way is long, or those before it had more to say than a stream begins with, what it has to begin
    /// with would hold its response up.
    func growAhead(_ index: Int) {
        // trailers go out when all of the response may have come
        guard streams[index].window.isOpen, streams[index].window.size == windows.shares.first else { return }
        guard windows.growth.isFar || windows.foresight.begins(),
            let size = windows.shares.usual(streams[index].window)
        else { return }
        grow(index, to: size)
    }

    private func grow(_ index: Int, most: Int) {
        guard let size = windows.shares.larger(streams[index].window, most: most) else { return }
        grow(index, to: size)
        if size == StreamWindow.most, windows.growth.outgrew(streams[index].id, now: inbound.now) { widen(index) }
    }

    private func grow(_ index: Int, to size: Int) {
        let id = streams[index].id
        let more = size - streams[index].window.size
        windows.shares.grow(&streams[index].window, to: size)
        // until the peer has said that it knows what streams begin with, nghttp2 counts from what they have without that
        setWindow(of: id, Int(nghttp2_session_get_stream_effective_local_window_size(pointer, id)) + more)
        // of the larger one this may not be half, and would be told late
        tell(id, untold(of: index), atLeast: 1)
    }

    /// The window is what holds a stream up: it gets more of what the connection has, or all of a larger one.
    private func widen(_ index: Int) {
        let id = streams[index].id
        // one that has still to send may have to be granted more before its own bytes are taken: the connection has to be read
        let mayHaveAll = side == .client && streams[index].outgoing.isSent
        // nobody else's bytes are to hold it up, also of streams that have ended
        let isAlone = streams.count == 1 && windows.shares.unused == streams[index].window.unused
        if mayHaveAll, isAlone, windows.sole.wants(id, isAlone: true) {
            grow(index, to: SoleStream.window)
            return setWindow(of: 0, Self.connectionWindow + SoleStream.window)
        }
        if windows.wide == .none, outbound.resources.beginWide() {
            windows.wide = .open(id)
            windows.sole.needsNoMore(id)
            windows.growth.letGo()
            windows.shares.widen(by: WideStream.window)
            setWindow(of: 0, Self.connectionWindow + WideStream.window)
            return grow(index, to: streams[index].window.size + WideStream.window)
        }
        if mayHaveAll { _ = windows.sole.wants(id, isAlone: false) }
        let most = side == .server ? Self.connectionWindow : StreamWindow.most
        guard let size = windows.shares.larger(streams[index].window, most: most) else { return }
        windows.growth.grew()
        grow(index, to: size)
    }

    /// A wide stream is over: once little waits of what came, the connection has its usual window again.
    private func narrow() {
        guard windows.wide == .ended, windows.shares.unused < StreamWindow.usual else { return }
        windows.wide = .none
        windows.shares.narrow()
        // one that has the connection to itself by now needs what there is
        if !windows.sole.isHeld { setWindow(of: 0, Self.connectionWindow) }
        outbound.resources.endWide()
    }

    /// - Parameter id: a stream; 0: the connection.
    func setWindow(of id: Int32, _ size: Int) {
        check(
            nghttp2_session_set_local_window_size(
                pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, Int32(clamping: size)))
    }

    /// The peer sends no more on a stream.
    func peerEnded(_ index: Int) {
        windows.shares.end(&streams[index].window)
        guard windows.wide == .open(streams[index].id) else { return }
        windows.wide = .ended
        windows.shares.endWide()
        narrow()
    }

    /// A stream has ended, as frames go.
    func endWindow(_ index: Int) {
        peerEnded(index)
        windows.sole.ended(streams[index].id, isWhole: streams[index].peerHasEnded)
    }

    /// Another stream may be begun beside one that needs, or has, the connection to itself.
    var hasRoomBesideSole: Bool {
        windows.sole.hasRoom(isIdle: streams.isEmpty && windows.shares.unused == 0)
    }
}
