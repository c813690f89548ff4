import CNghttp2
import HTTPCodec

/// What goes out.
extension Session {
    /// Appends all that can go out by now.
    func flush(to out: inout [UInt8]) {
        guard !outbound.held.isEmpty else { return send(to: &out) }
        var bytes: [UInt8] = []
        swap(&bytes, &outbound.held)
        bytes.withUnsafeBytes { send($0, on: outbound.heldStream, to: &out) }
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &outbound.held)
    }

    /// The same, and these bytes of a body. What the peer's windows have no room for waits with its stream.
    private func send(_ bytes: UnsafeRawBufferPointer, on place: StreamID, to out: inout [UInt8]) {
        guard let index = streams.index(place), !streams[index].isClosed else { return send(to: &out) }
        outbound.direct = bytes
        outbound.directStream = streams[index].id
        send(to: &out)
        let rest = outbound.direct
        outbound.direct = UnsafeRawBufferPointer(start: nil, count: 0)
        outbound.directStream = 0
        if !rest.isEmpty, let index = streams.index(place), !streams[index].isClosed {
            streams[index].outgoing.append(rest)
        }
    }

    private func send(to out: inout [UInt8]) {
        guard let pointer else { return }
        outbound.isDue = false
        let start = out.count
        swap(&out, &outbound.bytes)
        defer { swap(&out, &outbound.bytes) }
        while true {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(pointer, &bytes)
            guard count > 0 else {
                check(Int32(clamping: count))
                break
            }
            if outbound.frame == nil { outbound.frame = UnsafeRawPointer(bytes) }
            outbound.bytes.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        }
        outbound.tellStreams(start + (side == .client ? Int(NGHTTP2_CLIENT_MAGIC_LEN) : 0))
    }

    // MARK: messages

    /// Writes the head of a message, or what comes before or behind it, which `outbound.fields` has.
    /// - Parameter bytes: what they point into.
    func submitFields(_ bytes: [UInt8], on id: Int32, endsStream: Bool) {
        outbound.isDue = true
        let flags = endsStream ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE
        check(
            outbound.fields.withVectors(of: bytes) { vectors, count in
                nghttp2_submit_headers(pointer, UInt8(flags.rawValue), id, nil, vectors, count, nil)
            })
    }

    /// Writes the head of a request.
    /// - Returns: its stream's number; nil where none can be begun.
    func submitRequest(_ bytes: [UInt8], endsStream: Bool) -> Int32? {
        let flags = endsStream ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE
        let id = outbound.fields.withVectors(of: bytes) { vectors, count in
            nghttp2_submit_headers(pointer, UInt8(flags.rawValue), -1, nil, vectors, count, nil)
        }
        check(id)
        return id > 0 ? id : nil
    }

    /// Writes body. Little of it waits for what follows, or for `flush`: then it goes out together with the end. What the peer's
    /// windows have no room for waits, too: whoever writes looks at `waiting`, and writes no more while that is much.
    func write(_ bytes: Span<UInt8>, on index: Int, to out: inout [UInt8]) {
        let place = streams[index].place
        if !outbound.held.isEmpty, outbound.heldStream != place || outbound.held.count + bytes.count > Self.mostHeld {
            flush(to: &out)
        }
        // what goes out may have ended it
        guard let index = streams.index(place), !streams[index].isClosed else { return }
        attach(index)
        bytes.withUnsafeBytes { bytes in
            if streams[index].outgoing.count > 0 {
                streams[index].outgoing.append(bytes)
            } else if bytes.count > Self.mostHeld {
                send(bytes, on: place, to: &out)
            } else {
                outbound.heldStream = place
                outbound.held.append(contentsOf: bytes)
            }
        }
    }

    /// Bytes of a body that wait for its end, or for more.
    private static let mostHeld = 8 << 10

    /// The message is whole with these trailers.
    func end(_ trailers: [UInt8], on index: Int) {
        streams[index].outgoing.isWritten = true
        streams[index].outgoing.trailers = trailers
        if streams[index].outgoing.count == 0, !trailers.isEmpty, !streams[index].outgoing.isAttached {
            submitTrailers(index)
        } else {
            attach(index)
        }
    }

    /// Has nghttp2 ask for body.
    private func attach(_ index: Int) {
        outbound.isDue = true
        let id = streams[index].id
        if !streams[index].outgoing.isAttached {
            var source = SessionCallbacks.source
            let result = nghttp2_submit_data(pointer, UInt8(NGHTTP2_FLAG_END_STREAM.rawValue), id, &source)
            check(result)
            streams[index].outgoing.isAttached = result == 0
        } else if streams[index].outgoing.isStarved {
            streams[index].outgoing.isStarved = false
            check(nghttp2_session_resume_data(pointer, id))
        }
    }

    private func submitTrailers(_ index: Int) {
        outbound.fields.removeAll()
        outbound.fields.add(lines: streams[index].outgoing.trailers)
        streams[index].outgoing.trailers = []
        submitFields([], on: streams[index].id, endsStream: true)
    }

    // MARK: what nghttp2 asks for

    /// How much body there is for the next frame.
    func dataAsked(_ id: Int32, _ room: Int, _ flags: inout UInt32) -> Int {
        guard let index = streams.index(id: id) else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        let isDirect = id == outbound.directStream
        let available = isDirect ? outbound.direct.count : streams[index].outgoing.count
        let count = min(room, available)
        if count == available, streams[index].outgoing.isWritten {
            flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
            if !streams[index].outgoing.trailers.isEmpty {
                flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                submitTrailers(index)
            }
        } else if count == 0 {
            streams[index].outgoing.isStarved = true
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
        if count > 0 { flags |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue }
        return count
    }

    /// Appends a frame of so much body.
    func dataGoes(_ id: Int32, _ header: UnsafePointer<UInt8>, _ count: Int) {
        outbound.bytes.append(contentsOf: UnsafeBufferPointer(start: header, count: FrameHeader.size))
        floods.sent()
        if id == outbound.directStream {
            outbound.bytes.append(contentsOf: outbound.direct.prefix(count))
            outbound.direct = UnsafeRawBufferPointer(rebasing: outbound.direct.dropFirst(count))
        } else if let index = streams.index(id: id) {
            streams[index].outgoing.take(count, to: &outbound.bytes)
            if streams[index].outgoing.count == 0 { signals.append(.drained(streams[index].place)) }
        }
    }

    func frameWent(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        switch header.type {
        case FrameKind.goAway: noteEnd(frame.pointee.goaway.error_code)
        case FrameKind.reset: if ConnectionError.isFault(frame.pointee.rst_stream.error_code) { count(.reset) }
        case FrameKind.headers, FrameKind.data:
            guard let index = streams.index(id: header.stream_id) else { return }
            let endsStream = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            messageWent(index, endsStream: endsStream)
        default: break
        }
    }

    private func messageWent(_ index: Int, endsStream: Bool) {
        guard endsStream else {
            // a request whose turn came late has its body behind it
            if !streams[index].outgoing.isAttached, streams[index].outgoing.hasMore { attach(index) }
            return
        }
        streams[index].outgoing.isSent = true
        if streams[index].outgoing.isLast, !streams[index].peerHasEnded {
            reset(streams[index].id, ConnectionError.none)
        }
    }
}
