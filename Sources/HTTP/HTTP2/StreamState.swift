import HTTPCodec

/// The state of one stream.
struct StreamState {
    /// The progress of the peer's message.
    enum Peer {
        case head
        case body
        case ended
        /// It broke a rule; the rest is ignored.
        case ignored
    }

    /// The stream id; 0 before the first frame is sent.
    var id: Int32
    /// The caller's id of the stream.
    let place: StreamID
    var peer = Peer.head
    /// True after END_STREAM of the peer.
    var peerHasEnded = false
    /// The missing bytes of the peer's body according to Content-Length; nil without one.
    var missing: UInt64?
    var window = StreamWindow()
    var outgoing = OutgoingMessage()
    /// True for a HEAD, whose response has no body.
    var isHead = false
    /// True for CONNECT: the following bytes are no message.
    var isTunnel = false
    /// The protocol of an extended CONNECT (RFC 8441).
    var protocolName: String?
    /// True once nghttp2 has closed the stream.
    var isClosed = false
    /// True if the caller knows the stream and has to be told its end.
    var isTold = false
    /// True if the caller has released the stream and must not be told about it.
    var isForgotten = false
    /// The peer's violation.
    var fault: HTTPFault?

    var takesHead: Bool { !outgoing.hasHead && !isClosed }
    /// True after the head while body may follow.
    var takesBody: Bool { outgoing.hasHead && !outgoing.isWritten && !isClosed }

    init(id: Int32, place: StreamID) {
        self.id = id
        self.place = place
    }

    /// True if the end need not be reported: the messages were complete, or the caller has released the stream.
    func isOver(for side: ConnectionSide) -> Bool {
        if isForgotten { return true }
        switch side {
        case .server: return peerHasEnded && outgoing.isSent
        case .client: return peer == .ended && fault == nil
        }
    }
}

/// The state of an outgoing message.
struct OutgoingMessage {
    /// The bytes that wait for the peer's window, from `start` on.
    private(set) var waiting: [UInt8] = []
    private var start = 0
    var trailers: [UInt8] = []
    var hasHead = false
    /// True if the body is complete or there is none.
    var isWritten = false
    /// True if nghttp2 asks for the body.
    var isAttached = false
    /// True if nghttp2 asked and there were no bytes.
    var isStarved = false
    /// True once END_STREAM was sent.
    var isSent = false
    /// True to reset the stream after its end, because the rest of the peer's message is not wanted.
    var isLast = false

    var count: Int { waiting.count - start }
    /// True if there is something left to send.
    var hasMore: Bool { count > 0 || isWritten && !isSent }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        // remove sent bytes once they are half of the buffer, so that each byte is moved a bounded number of times
        if start > 0, start >= waiting.count / 2 {
            waiting.removeFirst(start)
            start = 0
        }
        waiting.append(contentsOf: bytes)
    }

    /// Moves the next bytes to the output.
    mutating func take(_ count: Int, to out: inout [UInt8]) {
        let end = min(waiting.count, start + count)
        out.append(contentsOf: waiting[start..<end])
        start = end
        guard start == waiting.count else { return }
        start = 0
        // a stream that has waited once will probably wait again
        if isWritten || waiting.capacity > Self.keptCapacity {
            waiting = []
        } else {
            waiting.removeAll(keepingCapacity: true)
        }
    }

    /// Drops everything that was not sent.
    mutating func drop() {
        if waiting.capacity > 0 { waiting = [] }
        start = 0
        if !trailers.isEmpty { trailers = [] }
    }

    private static let keptCapacity = 64 << 10
}
