import CNghttp2
import HTTPCodec

/// The receiving side of the connection.
extension HTTP2Connection {
    /// A part of the peer's messages, before it becomes an event of either side.
    enum Piece {
        /// The fields of the stream at this index are complete.
        case head(Int, endsStream: Bool)
        case data(StreamID, Range<Int>)
        /// The end of a message; `trailers` holds its trailers.
        case end(StreamID)
        /// The stream ended before its messages were complete.
        case closed(StreamID, HTTPFault?, code: UInt32, isTold: Bool)
        case refused(StreamID)
        case drained(StreamID)
        case pong
    }

    /// Reads the next event from `input`. Advances `position` past the bytes used. Nil if more input is needed.
    /// - Throws: the fault that ends the connection.
    func read<Event>(
        _ input: Span<UInt8>, _ position: inout Int, now: Int, _ limits: HeadLimits, maxTrailerBytes: Int,
        to out: inout [UInt8], _ event: (Piece, inout [UInt8]) -> Event?
    ) throws(HTTPFault) -> Event? {
        self.now = now
        fields.limit(to: limits, maxTrailerBytes: maxTrailerBytes)
        while let signal = try next(input, &position, to: &out) {
            if let piece = piece(signal, to: &out), let event = event(piece, &out) { return event }
        }
        return nil
    }

    // MARK: messages

    /// The message part of a signal; nil if it is none, or if it breaks a rule and the stream was reset.
    private func piece(_ signal: Signal, to out: inout [UInt8]) -> Piece? {
        switch signal {
        case .fields(let id, let endsStream):
            guard let index = streams.index(id: id) else { return nil }
            switch streams[index].peer {
            case .head: return .head(index, endsStream: endsStream)
            case .body: return end(index, hasTrailers: true, endsStream, to: &out)
            case .ended, .ignored: return nil
            }
        case .data(let id, let range): return takeData(range, of: id, to: &out)
        case .ended(let id):
            guard let index = streams.index(id: id), streams[index].peer == .body else { return nil }
            return end(index, hasTrailers: false, true, to: &out)
        case .closed(let id, let code):
            guard let index = streams.index(id: id) else { return nil }
            defer { streams.remove(index) }
            guard !streams[index].isOver(for: side) else { return nil }
            return .closed(streams[index].place, streams[index].fault, code: code, isTold: streams[index].isTold)
        case .refused(let place): return .refused(place)
        case .drained(let place): return .drained(place)
        case .pong: return .pong
        }
    }

    /// Handles the end of the peer's message.
    private func end(_ index: Int, hasTrailers: Bool, _ endsStream: Bool, to out: inout [UInt8]) -> Piece? {
        do throws(HTTPFault) {
            if hasTrailers {
                guard endsStream, !streams[index].isTunnel else { throw HTTPFault(.unfinishedTrailers, at: 0) }
                try fields.take(trailers: &trailers)
            }
            guard streams[index].missing ?? 0 == 0 else { throw HTTPFault(.lengthMismatch, at: 0) }
        } catch {
            reset(index, for: error)
            flush(to: &out)
            return nil
        }
        if !hasTrailers { trailers.removeAll(keepingCapacity: true) }
        streams[index].peer = .ended
        return .end(streams[index].place)
    }

    /// Handles body bytes. Unwanted bytes count as used.
    private func takeData(_ range: Range<Int>, of id: Int32, to out: inout [UInt8]) -> Piece? {
        let index = streams.index(id: id)
        flow.came(range.count, on: index, &streams, now: now)
        guard let index, streams[index].peer == .body else {
            flow.used(range.count, on: index, &streams)
            flush(to: &out)
            return nil
        }
        // frames with more bytes were rejected before
        if let missing = streams[index].missing {
            streams[index].missing = missing - min(missing, UInt64(range.count))
        }
        return .data(streams[index].place, range)
    }

    // MARK: frames

    private func next(_ input: Span<UInt8>, _ position: inout Int, to out: inout [UInt8]) throws(HTTPFault) -> Signal? {
        while true {
            if let signal = signals.popFirst() { return signal }
            // earlier events are reported first
            let failure = nghttp2.failure
            let isMore = failure == nil && pass(input, &position, to: &out)
            flush(to: &out)
            if let failure { throw failure }
            if !isMore { return nil }
        }
    }

    /// Passes the next bytes of one frame to nghttp2.
    /// - Returns: false if the input is used up.
    private func pass(_ input: Span<UInt8>, _ position: inout Int, to out: inout [UInt8]) -> Bool {
        switch frames.walk.next(input, &position) {
        case .needsMore: return false
        case .rest(let range): if !frames.isSkipping { pass(input, range) }
        case .begins(let header, let range): if admits(header, to: &out) { pass(input, range) }
        case .beginsKept(let header):
            if admits(header, to: &out) {
                let kept = frames.walk.kept
                pass(kept.span, 0..<kept.count)
            }
            frames.walk.passedKept()
        }
        return true
    }

    private func pass(_ input: Span<UInt8>, _ range: Range<Int>) {
        input.withUnsafeBufferPointer { bytes in
            frames.input = bytes.baseAddress
            nghttp2.receive(UnsafeBufferPointer(rebasing: bytes[range]))
            frames.input = nil
        }
    }

    /// - Returns: false if the frame must not be passed to nghttp2.
    private func admits(_ header: FrameHeader, to out: inout [UInt8]) -> Bool {
        let verdict = frames.judge(header, streams, side)
        if let flood = verdict.flood { count(flood) }
        if let breach = verdict.breach {
            if let index = breach.stream {
                reset(index, for: breach.fault, breach.error)
                flush(to: &out)
            } else {
                fail(breach.fault, breach.error)
            }
        }
        return !frames.isSkipping && nghttp2.failure == nil
    }

    // MARK: nghttp2's callbacks

    func fieldsBegin(_ id: Int32, _ category: nghttp2_headers_category) -> Int32 {
        fields.begin(isHead: streams.index(id: id).map { streams[$0].peer == .head } ?? true)
        guard category == NGHTTP2_HCAT_REQUEST else { return 0 }
        guard streams.count < limit.most else {
            nghttp2.reset(id, ConnectionError.refused)
            count(.refusal)
            tally.refused += 1
            // the fields have to be decompressed because later ones refer to them; then they are dropped
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        add(id, StreamID(UInt32(bitPattern: id)))
        nghttp2.takeTurns(on: id)
        return 0
    }

    func fieldCame(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Int32 {
        if fields.add(name.span, value.span) { return 0 }
        fail(HTTPFault(.fieldsOutOfMeasure, at: 0), ConnectionError.calm)
        return NGHTTP2_ERR_PAUSE.rawValue
    }

    func dataCame(_ id: Int32, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        if let range = frames.dataCame(bytes, count) { signals.append(.data(id, range)) }
    }

    func frameCame(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        let endsStream = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        let isAnswer = header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        switch header.type {
        case FrameKind.headers, FrameKind.data:
            let index = streams.index(id: header.stream_id)
            if endsStream, let index { streams[index].peerHasEnded = true }
            if header.type == FrameKind.headers {
                if let index, frames.isSelfDependent(header.stream_id) {
                    return reset(index, for: HTTPFault(.badFrame, at: 0))
                }
                signals.append(.fields(header.stream_id, endsStream: endsStream))
            } else if !endsStream, !frames.hasData {
                // only padding
                count(.emptyData)
            }
            if endsStream { signals.append(.ended(header.stream_id)) }
        case FrameKind.goAway: goAwayCode = StreamErrorCode(rawValue: frame.pointee.goaway.error_code)
        case FrameKind.settings: if !isAnswer { isSettled = true }
        case FrameKind.ping:
            guard isAnswer else { return }
            guard nghttp2.takePing() else { return count(.ping) }
            let data = withUnsafeBytes(of: frame.pointee.ping.opaque_data) { Array($0) }
            if !flow.takeSample(data, now: now) { signals.append(.pong) }
        default: break
        }
    }

    func streamClosed(_ id: Int32, _ code: UInt32) {
        guard let index = streams.index(id: id) else { return }
        streams.close(index)
        flow.windows.end(&streams[index].window)
        if side == .client, code == ConnectionError.refused { tally.refused += 1 }
        signals.append(.closed(id, code: code))
    }
}
