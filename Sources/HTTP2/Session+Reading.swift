import CNghttp2
import Formats
import HTTPCodec

/// What comes.
extension Session {
    /// The next signal in `input` from `position` on, which is moved past what was used; nil where more is needed.
    /// - Throws: why the connection cannot go on.
    func next(_ input: Span<UInt8>, _ position: inout Int, to out: inout [UInt8]) throws(HTTPFault) -> Signal? {
        while true {
            if let signal = signals.popFirst() { return signal }
            // what came before is told first
            if let failure {
                flush(to: &out)
                throw failure
            }
            if !readPiece(input, &position, to: &out) { return nil }
            flush(to: &out)
        }
    }

    /// - Returns: false where the input is used up.
    private func readPiece(_ input: Span<UInt8>, _ position: inout Int, to out: inout [UInt8]) -> Bool {
        switch inbound.walk.next(input, &position) {
        case .needsMore:
            flush(to: &out)
            return false
        case .rest(let range): if !inbound.isSkipping { pass(input, range) }
        case .begins(let header, let range):
            inbound.isSkipping = !admits(header, to: &out)
            if !inbound.isSkipping, failure == nil { pass(input, range) }
        case .beginsKept(let header):
            inbound.isSkipping = !admits(header, to: &out)
            if !inbound.isSkipping, failure == nil {
                let kept = inbound.walk.kept
                pass(kept.span, 0..<kept.count)
            }
            inbound.walk.passedKept()
        }
        return true
    }

    private func pass(_ input: Span<UInt8>, _ range: Range<Int>) {
        let result = input.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            inbound.base = base
            defer { inbound.base = nil }
            return nghttp2_session_mem_recv(pointer, base + range.lowerBound, range.count)
        }
        guard result < 0 else { return }
        let isPreface = result == Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue)
        fail(isPreface ? .badPreface : .protocolFailure, isPreface ? ConnectionError.violation : ConnectionError.failed)
    }

    // MARK: frames before nghttp2 sees them

    /// Looks at a frame that begins.
    /// - Returns: false where nothing of it is for nghttp2.
    private func admits(_ header: FrameHeader, to out: inout [UInt8]) -> Bool {
        // what is not SETTINGS is judged by nghttp2 there
        guard inbound.hasBegun else {
            inbound.hasBegun = true
            return true
        }
        if inbound.isInFields {
            if header.kind == FrameKind.continuation { countContinuation(header) }
            return true
        }
        switch header.kind {
        case FrameKind.headers, FrameKind.pushPromise:
            inbound.isInFields = !header.endsFields
            inbound.continuations = 0
            inbound.selfDependent = header.dependsOnItself ? header.stream : 0
            // nghttp2 would end the connection, where the stream alone is to end (RFC 7540 §5.3.1)
            if header.dependsOnItself { inbound.walk.clearDependency() }
            endIfOver(header.stream, to: &out)
        case FrameKind.data:
            inbound.hasData = header.length == 0
            if header.length == 0, !header.endsStream { count(.emptyData) }
            endIfOver(header.stream, to: &out)
            endIfWrong(header, to: &out)
        case FrameKind.priority: return admitsPriority(header)
        case FrameKind.windowUpdate: return admitsGrant(header)
        case FrameKind.reset:
            if let index = streams.index(id: header.stream), streams[index].outgoing.hasHead { break }
            count(.reset)
        case FrameKind.settings: if !header.isAnswer { count(.settings) }
        case FrameKind.goAway: count(.settings)
        case FrameKind.ping: if !header.isAnswer { count(.ping) }
        default: if header.kind > FrameKind.continuation { count(.unknown) }
        }
        return true
    }

    private func countContinuation(_ header: FrameHeader) {
        inbound.continuations += 1
        if inbound.continuations > FloodGuard.maxContinuations { fail(.tooManyContinuations, ConnectionError.calm) }
        if header.endsFields { inbound.isInFields = false }
    }

    /// A stream whose message has ended gets no more: nghttp2 would end the connection for it, where the stream alone is to
    /// end (RFC 9113 §5.1). Once that is so, it lets the frame go, and reads what it has to of it.
    private func endIfOver(_ id: Int32, to out: inout [UInt8]) {
        guard let index = streams.index(id: id), streams[index].peerHasEnded else { return }
        reset(index, for: HTTPFault(.closedStream, at: 0), ConnectionError.closed)
        flush(to: &out)
    }

    /// A response's body before its head, likewise, and more body than the head says, or less: nothing of such a frame is told of.
    private func endIfWrong(_ header: FrameHeader, to out: inout [UInt8]) {
        guard let index = streams.index(id: header.stream) else { return }
        switch streams[index].peer {
        case .head:
            guard side == .client else { return }
            reset(index, for: HTTPFault(.bodyWithoutHead, at: 0), ConnectionError.violation)
        case .body:
            guard let missing = streams[index].missing else { return }
            let body = UInt64(header.body)
            guard body > missing || header.endsStream && body < missing else { return }
            reset(index, for: HTTPFault(.lengthMismatch, at: 0), ConnectionError.violation)
        case .ended, .ignored: return
        }
        flush(to: &out)
    }

    /// Nobody goes by them any more (RFC 9113 §5.3.2). Of a wrong length, they end their stream (§6.3), and where it is to wait
    /// for itself.
    private func admitsPriority(_ header: FrameHeader) -> Bool {
        count(.priority)
        if header.stream == 0 {
            fail(.badFrame, ConnectionError.violation)
        } else if header.length != 5, let index = streams.index(id: header.stream) {
            reset(index, for: HTTPFault(.badFrameSize, at: 0), ConnectionError.size)
        } else if header.dependsOnItself, let index = streams.index(id: header.stream) {
            reset(index, for: HTTPFault(.badFrame, at: 0), ConnectionError.violation)
        }
        return false
    }

    /// To grant nothing to a stream ends that stream (RFC 9113 §6.9), and not the connection.
    private func admitsGrant(_ header: FrameHeader) -> Bool {
        count(.windowUpdate)
        guard header.grant == 0, header.stream != 0, let index = streams.index(id: header.stream) else { return true }
        reset(index, for: HTTPFault(.badFrame, at: 0), ConnectionError.violation)
        return false
    }

    // MARK: what nghttp2 makes of them

    func fieldsBegin(_ id: Int32, _ category: nghttp2_headers_category) -> Int32 {
        inbound.block.begin()
        let isHead = streams.index(id: id).map { streams[$0].peer == .head } ?? true
        inbound.fieldLimits = isHead ? inbound.limits : inbound.trailerLimits
        guard category == NGHTTP2_HCAT_REQUEST else { return 0 }
        guard streams.count < inbound.maxStreams else {
            reset(id, ConnectionError.refused)
            count(.refusal)
            tally.refused += 1
            // the fields are read, for those of others build on them, and let go
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        var state = StreamState(id: id, place: StreamID(UInt32(bitPattern: id)))
        windows.begin(&state.window)
        streams.add(state)
        // in turns, a frame each, where many wait for the connection's window
        var turns = nghttp2_extpri(urgency: UInt32(NGHTTP2_EXTPRI_DEFAULT_URGENCY), inc: 1)
        check(nghttp2_session_change_extpri_stream_priority(pointer, id, &turns, 1))
        return 0
    }

    func fieldCame(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Int32 {
        inbound.block.add(name.span, value.span, limits: inbound.fieldLimits)
        if inbound.block.size > FloodGuard.maxUnfolding * inbound.limits.bytes {
            fail(.fieldsOutOfMeasure, ConnectionError.calm)
            return NGHTTP2_ERR_PAUSE.rawValue
        }
        return 0
    }

    func dataCame(_ id: Int32, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        inbound.hasData = true
        guard let base = inbound.base else { return }
        // nghttp2 hands over the very bytes that it got
        let start = bytes - base
        signals.append(.data(id, start..<start + count))
    }

    func frameCame(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        let endsStream = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        if endsStream, let index = streams.index(id: header.stream_id) {
            streams[index].peerHasEnded = true
        }
        switch header.type {
        case FrameKind.headers:
            if inbound.selfDependent == header.stream_id, let index = streams.index(id: header.stream_id) {
                return reset(index, for: HTTPFault(.badFrame, at: 0), ConnectionError.violation)
            }
            signals.append(.fields(header.stream_id, endsStream: endsStream))
            if endsStream { signals.append(.ended(header.stream_id)) }
        case FrameKind.data:
            if endsStream {
                signals.append(.ended(header.stream_id))
            } else if !inbound.hasData {
                // of padding alone
                count(.emptyData)
            }
        case FrameKind.goAway: inbound.farewell = StreamErrorCode(rawValue: frame.pointee.goaway.error_code)
        case FrameKind.settings:
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { inbound.isSettled = true }
        case FrameKind.ping:
            guard header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 else { return }
            guard outbound.pings > 0 else { return count(.ping) }
            outbound.pings -= 1
            let data = withUnsafeBytes(of: frame.pointee.ping.opaque_data) { Array($0) }
            if !takeSample(data) { signals.append(.pong) }
        default: break
        }
    }

    func streamClosed(_ id: Int32, _ code: UInt32) {
        guard let index = streams.index(id: id) else { return }
        streams.close(index)
        windows.end(&streams[index].window)
        if side == .client, code == ConnectionError.refused { tally.refused += 1 }
        signals.append(.closed(id, code: code))
    }
}
