import CNghttp2
import HTTPCodec

/// Writes messages on streams: heads, trailers, and bodies within the peer's windows. The rest of a body is queued on its stream.
struct MessageWriter {
    /// Body bytes that wait for more or for the end, with their stream.
    struct Held {
        static let most = 8 << 10

        var bytes: [UInt8] = []
        var stream = StreamID(0)
    }

    private let nghttp2: NGHTTP2Session
    /// The output of the current call.
    var out: [UInt8] = []
    var held = Held()
    /// The fields of a message before nghttp2 copies them.
    var fields = FieldList()
    /// True if frames were submitted and not yet appended.
    private(set) var isDue = false
    /// The body bytes of the current call, uncopied, with their stream.
    private var direct = UnsafeRawBufferPointer(start: nil, count: 0)
    private var directStream: Int32 = 0

    init(_ nghttp2: NGHTTP2Session) { self.nghttp2 = nghttp2 }

    /// Releases memory that is used only for messages.
    mutating func rest() {
        held = Held()
        fields = FieldList()
    }

    /// Begins to send submitted frames.
    mutating func begin(_ out: inout [UInt8]) {
        isDue = false
        swap(&out, &self.out)
    }

    // MARK: messages

    /// Submits the head of a message, an interim head or trailers from `fields`.
    /// - Parameter bytes: the bytes that the fields refer to.
    mutating func submitFields(_ bytes: [UInt8], on id: Int32, endsStream: Bool) {
        isDue = true
        nghttp2.submit(&fields, bytes, on: id, endsStream: endsStream)
    }

    /// Ends a message with these trailers.
    mutating func end(_ trailers: [UInt8], on state: inout StreamState) {
        state.outgoing.isWritten = true
        state.outgoing.trailers = trailers
        if state.outgoing.count == 0, !trailers.isEmpty, !state.outgoing.isAttached {
            submitTrailers(&state)
        } else {
            attach(&state)
        }
    }

    /// Makes nghttp2 ask for body.
    mutating func attach(_ state: inout StreamState) {
        isDue = true
        if !state.outgoing.isAttached {
            state.outgoing.isAttached = nghttp2.submitBody(on: state.id)
        } else if state.outgoing.isStarved {
            state.outgoing.isStarved = false
            nghttp2.resumeBody(on: state.id)
        }
    }

    private mutating func submitTrailers(_ state: inout StreamState) {
        fields.removeAll()
        fields.add(lines: state.outgoing.trailers)
        state.outgoing.trailers = []
        submitFields([], on: state.id, endsStream: true)
    }

    // MARK: outgoing bodies

    /// Offers bytes to be sent by the current call within the windows.
    mutating func offer(_ bytes: UnsafeRawBufferPointer, on id: Int32) { (direct, directStream) = (bytes, id) }

    /// The offered bytes that were not sent.
    mutating func takeOffer() -> UnsafeRawBufferPointer {
        defer { offer(UnsafeRawBufferPointer(start: nil, count: 0), on: 0) }
        return direct
    }

    /// The body bytes for the next frame, at nghttp2's request.
    mutating func bodyAsked(_ room: Int, _ state: inout StreamState, _ flags: inout UInt32) -> Int {
        let available = state.id == directStream ? direct.count : state.outgoing.count
        let count = min(room, available)
        if count == available, state.outgoing.isWritten {
            flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
            if !state.outgoing.trailers.isEmpty {
                flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                submitTrailers(&state)
            }
        } else if count == 0 {
            state.outgoing.isStarved = true
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
        if count > 0 { flags |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue }
        return count
    }

    /// Appends this many offered bytes.
    /// - Returns: false if there is no offer for this stream.
    mutating func appendOffer(_ count: Int, on id: Int32) -> Bool {
        guard id == directStream else { return false }
        out.append(contentsOf: direct.prefix(count))
        direct = UnsafeRawBufferPointer(rebasing: direct.dropFirst(count))
        return true
    }
}
