import CNghttp2
import HTTPCodec

/// The sending side of the connection.
extension HTTP2Connection {
    /// Appends everything that can be sent now.
    func flush(to out: inout [UInt8]) {
        guard !writer.held.bytes.isEmpty else { return send(to: &out) }
        var held = MessageWriter.Held()
        swap(&held, &writer.held)
        held.bytes.withUnsafeBytes { send($0, on: held.stream, to: &out) }
        held.bytes.removeAll(keepingCapacity: true)
        swap(&held, &writer.held)
    }

    /// The same with these body bytes. Bytes that exceed the peer's windows are queued on the stream.
    private func send(_ bytes: UnsafeRawBufferPointer, on place: StreamID, to out: inout [UInt8]) {
        guard let index = streams.index(place), !streams[index].isClosed else { return send(to: &out) }
        writer.offer(bytes, on: streams[index].id)
        send(to: &out)
        let rest = writer.takeOffer()
        if !rest.isEmpty, let index = streams.index(place), !streams[index].isClosed {
            streams[index].outgoing.append(rest)
        }
    }

    private func send(to out: inout [UInt8]) {
        let start = out.count + (side == .client ? Int(NGHTTP2_CLIENT_MAGIC_LEN) : 0)
        writer.begin(&out)
        while let bytes = nghttp2.nextBytes() { writer.out.append(contentsOf: bytes) }
        swap(&out, &writer.out)
        limit.tell(&out, at: start)
    }

    /// Writes body bytes. Small amounts wait for more or for `flush`, so that they leave together with the end. Bytes that exceed
    /// the peer's windows are queued: callers check `waiting` and pause while it is large.
    func write(_ bytes: Span<UInt8>, on index: Int, to out: inout [UInt8]) {
        let place = streams[index].place
        let (held, most) = (writer.held.bytes.count, MessageWriter.Held.most)
        if held > 0, writer.held.stream != place || held + bytes.count > most { flush(to: &out) }
        // flushing may have ended the stream
        guard let index = streams.index(place), !streams[index].isClosed else { return }
        writer.attach(&streams[index])
        bytes.withUnsafeBytes { bytes in
            if streams[index].outgoing.count > 0 {
                streams[index].outgoing.append(bytes)
            } else if bytes.count > most {
                send(bytes, on: place, to: &out)
            } else {
                writer.held.stream = place
                writer.held.bytes.append(contentsOf: bytes)
            }
        }
    }

    // MARK: nghttp2's callbacks

    func bodyAsked(_ id: Int32, _ room: Int, _ flags: inout UInt32) -> Int {
        guard let index = streams.index(id: id) else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        return writer.bodyAsked(room, &streams[index], &flags)
    }

    /// Appends a DATA frame with this many bytes.
    func bodyGoes(_ id: Int32, _ header: UnsafePointer<UInt8>, _ count: Int) {
        writer.out.append(contentsOf: UnsafeBufferPointer(start: header, count: FrameHeader.size))
        floods.sent()
        guard !writer.appendOffer(count, on: id), let index = streams.index(id: id) else { return }
        streams[index].outgoing.take(count, to: &writer.out)
        if streams[index].outgoing.count == 0 { signals.append(.drained(streams[index].place)) }
    }

    func frameWent(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        switch header.type {
        case FrameKind.goAway: nghttp2.noteEnd(frame.pointee.goaway.error_code)
        case FrameKind.reset: if ConnectionError.isFault(frame.pointee.rst_stream.error_code) { count(.reset) }
        case FrameKind.headers, FrameKind.data:
            guard let index = streams.index(id: header.stream_id) else { return }
            if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                streams[index].outgoing.isSent = true
                if streams[index].outgoing.isLast, !streams[index].peerHasEnded {
                    nghttp2.reset(header.stream_id, ConnectionError.none)
                }
            } else if !streams[index].outgoing.isAttached, streams[index].outgoing.hasMore {
                // a request that was queued has its body ready
                writer.attach(&streams[index])
            }
        default: break
        }
    }
}
