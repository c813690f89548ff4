import CNghttp2
import HTTPCodec

/// Writes messages on streams: heads, trailers, and bodies as far as the peer's windows have room. The rest of a body waits with its
/// stream.
struct MessageWriter {
    /// Bytes of a body that wait for its end, or for more, and whose they are.
    struct Held {
        static let most = 8 << 10

        var bytes: [UInt8] = []
        var stream = StreamID(0)
    }

    private let nghttp2: NGHTTP2Session
    /// What the call under way appends to.
    var out: [UInt8] = []
    var held = Held()
    /// Where the fields of a message are put together before nghttp2 makes a copy.
    var fields = FieldList()
    /// Frames of messages have been made ready since anything was last appended.
    private(set) var isDue = false
    /// What the call under way writes of a body, before any of it is copied, and whose it is.
    private var direct = UnsafeRawBufferPointer(start: nil, count: 0)
    private var directStream: Int32 = 0

    init(_ nghttp2: NGHTTP2Session) { self.nghttp2 = nghttp2 }

    /// Gives back memory that only messages need.
    mutating func rest() {
        held = Held()
        fields = FieldList()
    }

    /// What was made ready goes out.
    mutating func begin(_ out: inout [UInt8]) {
        isDue = false
        swap(&out, &self.out)
    }

    // MARK: messages

    /// Writes the head of a message, or what comes before or behind it, which `fields` has.
    /// - Parameter bytes: what they point into.
    mutating func submitFields(_ bytes: [UInt8], on id: Int32, endsStream: Bool) {
        isDue = true
        nghttp2.submit(&fields, bytes, on: id, endsStream: endsStream)
    }

    /// The message is whole with these trailers.
    mutating func end(_ trailers: [UInt8], on state: inout StreamState) {
        state.outgoing.isWritten = true
        state.outgoing.trailers = trailers
        if state.outgoing.count == 0, !trailers.isEmpty, !state.outgoing.isAttached {
            submitTrailers(&state)
        } else {
            attach(&state)
        }
    }

    /// Has nghttp2 ask for body.
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

    // MARK: bodies that go out

    /// These bytes go out with the call under way, as far as there is room.
    mutating func offer(_ bytes: UnsafeRawBufferPointer, on id: Int32) { (direct, directStream) = (bytes, id) }

    /// What there was no room for.
    mutating func takeOffer() -> UnsafeRawBufferPointer {
        defer { offer(UnsafeRawBufferPointer(start: nil, count: 0), on: 0) }
        return direct
    }

    /// How much body there is for the next frame, which nghttp2 asks for.
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

    /// Appends so much of what was offered.
    /// - Returns: false where nothing was for that stream.
    mutating func appendOffer(_ count: Int, on id: Int32) -> Bool {
        guard id == directStream else { return false }
        out.append(contentsOf: direct.prefix(count))
        direct = UnsafeRawBufferPointer(rebasing: direct.dropFirst(count))
        return true
    }
}
