import CNghttp2
import HTTPCodec

/// What both sides do alike with the messages that they read.
extension Session {
    /// Part of the peer's message on a stream.
    enum Piece {
        /// Its fields are in the block, and its stream is at that index.
        case head(Int, endsStream: Bool)
        case data(StreamID, Range<Int>)
        case end(StreamID)
    }

    /// The next event that `event` makes of what comes; nil where more is needed.
    func read<Event>(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, _ limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8], _ event: (Signal, inout [UInt8]) -> Event?
    ) throws(HTTPFault) -> Event? {
        prepare(now: now, limits, maxTrailerBytes: maxTrailerBytes)
        while let signal = try next(input, &position, to: &out) {
            if let event = event(signal, &out) { return event }
        }
        return nil
    }

    /// What a signal comes to for a message; nil where it is nothing to one, or breaks a rule, and the stream was reset.
    func piece(_ signal: Signal, _ trailers: inout [UInt8], to out: inout [UInt8]) -> Piece? {
        switch signal {
        case .fields(let id, let endsStream):
            guard let index = streams.index(id: id) else { return nil }
            switch streams[index].peer {
            case .head: return .head(index, endsStream: endsStream)
            case .body: return takeTrailers(&trailers, of: index, endsStream, to: &out).map { .end($0) }
            case .ended, .ignored: return nil
            }
        case .data(let id, let range): return takeData(range.count, of: id, to: &out).map { .data($0, range) }
        case .ended(let id):
            guard let stream = takeEnd(of: id, to: &out) else { return nil }
            trailers.removeAll(keepingCapacity: true)
            return .end(stream)
        case .closed, .refused, .drained, .pong: return nil
        }
    }

    private func prepare(now: Int, _ limits: HeadLimits, maxTrailerBytes: Int) {
        inbound.now = now
        inbound.limits = limits
        inbound.trailerLimits = HeadLimits(bytes: maxTrailerBytes, fields: limits.fields, target: limits.target)
    }

    /// Takes trailers, and with them the end of the peer's message.
    /// - Returns: whose it was; nil where they break a rule, and the stream was reset.
    private func takeTrailers(
        _ trailers: inout [UInt8], of index: Int, _ endsStream: Bool, to out: inout [UInt8]
    ) -> StreamID? {
        do throws(HTTPFault) {
            guard endsStream, !streams[index].isTunnel else { throw HTTPFault(.unfinishedTrailers, at: 0) }
            try inbound.block.take(trailers: &trailers)
            return try end(index)
        } catch {
            reset(index, for: error, ConnectionError.violation)
            flush(to: &out)
            return nil
        }
    }

    private func end(_ index: Int) throws(HTTPFault) -> StreamID {
        guard streams[index].missing ?? 0 == 0 else { throw HTTPFault(.lengthMismatch, at: 0) }
        streams[index].peer = .ended
        return streams[index].place
    }

    /// The peer's message has ended without trailers.
    private func takeEnd(of id: Int32, to out: inout [UInt8]) -> StreamID? {
        guard let index = streams.index(id: id), streams[index].peer == .body else { return nil }
        do throws(HTTPFault) {
            return try end(index)
        } catch {
            reset(index, for: error, ConnectionError.violation)
            flush(to: &out)
            return nil
        }
    }

    /// So many bytes of body have come.
    /// - Returns: whose they are; nil where nobody wants them, and they count as used.
    private func takeData(_ count: Int, of id: Int32, to out: inout [UInt8]) -> StreamID? {
        guard let index = noteData(count, of: id), streams[index].peer == .body else {
            used(count, of: streams.index(id: id).map { streams[$0].place } ?? StreamID(0))
            flush(to: &out)
            return nil
        }
        // no frame has more, or it would not have been passed on
        if let missing = streams[index].missing { streams[index].missing = missing - min(missing, UInt64(count)) }
        return streams[index].place
    }

    // MARK: the connection

    /// How many streams the peer takes at a time.
    var peerMaxStreams: Int {
        guard let pointer else { return 0 }
        return Int(nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    var peerTakesUpgrades: Bool {
        guard let pointer else { return false }
        return nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1
    }

    /// False once the peer leaves, the numbers of streams are used up, or the connection has failed.
    var maySendRequests: Bool {
        guard let pointer, failure == nil else { return false }
        return nghttp2_session_check_request_allowed(pointer) != 0
    }

    /// Begins no further stream of the peer's, and tells it so.
    func leave() {
        guard let pointer else { return }
        check(
            nghttp2_submit_goaway(
                pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(pointer),
                ConnectionError.none, nil, 0))
    }

    func ping() {
        guard pointer != nil else { return }
        outbound.pings += 1
        check(nghttp2_submit_ping(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil))
    }
}
