import HTTPCodec

/// What is known of one stream.
struct StreamState {
    /// How far the peer's message has come.
    enum Peer {
        case head
        case body
        case ended
        /// It breaks a rule: what else comes of it goes nowhere.
        case ignored
    }

    /// Its number in frames; 0 where the first of them has not gone out.
    var id: Int32
    /// What callers know it by.
    let place: StreamID
    var peer = Peer.head
    /// The peer sends no more on it.
    var peerHasEnded = false
    /// How many bytes of the peer's body are still to come, where its head says.
    var missing: UInt64?
    var window = StreamWindow()
    var outgoing = OutgoingMessage()
    /// The request is a HEAD, whose answer has no body.
    var isHead = false
    /// The request is a CONNECT: what follows is no message.
    var isTunnel = false
    /// What an extended CONNECT asks for (RFC 8441).
    var protocolName: String?
    /// It has ended, as frames go.
    var isClosed = false
    /// The caller was told of it, and hears of its end.
    var isTold = false
    /// The caller has given it up, and hears of it no more.
    var isForgotten = false
    /// What the peer did wrong on it.
    var fault: HTTPFault?

    var takesHead: Bool { !outgoing.hasHead && !isClosed }
    /// A head has gone out, and body may follow.
    var takesBody: Bool { outgoing.hasHead && !outgoing.isWritten && !isClosed }

    init(id: Int32, place: StreamID) {
        self.id = id
        self.place = place
    }

    /// Nobody hears of its end: its messages were whole, or the caller has given it up.
    func isOver(for side: ConnectionSide) -> Bool {
        if isForgotten { return true }
        switch side {
        case .server: return peerHasEnded && outgoing.isSent
        case .client: return peer == .ended && fault == nil
        }
    }
}

/// A message on its way out.
struct OutgoingMessage {
    /// Bytes that wait for the peer's window, from there on.
    private(set) var waiting: [UInt8] = []
    private var start = 0
    var trailers: [UInt8] = []
    var hasHead = false
    /// No body may follow the head, or all of it has been written.
    var isWritten = false
    /// nghttp2 has been told that there is a body, and asks for it.
    var isAttached = false
    /// It asked, and there was nothing.
    var isStarved = false
    /// The last of it has gone out.
    var isSent = false
    /// What the peer still sends is not wanted, once that is so.
    var isLast = false

    var count: Int { waiting.count - start }
    /// There is something behind what has gone out.
    var hasMore: Bool { count > 0 || isWritten && !isSent }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        // what has gone is let go of when it is most of it, so that each byte moves a bounded number of times
        if start > 0, start >= waiting.count / 2 {
            waiting.removeFirst(start)
            start = 0
        }
        waiting.append(contentsOf: bytes)
    }

    /// Hands the next bytes on.
    mutating func take(_ count: Int, to out: inout [UInt8]) {
        let end = min(waiting.count, start + count)
        out.append(contentsOf: waiting[start..<end])
        start = end
        guard start == waiting.count else { return }
        start = 0
        // whoever waited once will do so again, unless it is over
        if isWritten || waiting.capacity > Self.keptCapacity {
            waiting = []
        } else {
            waiting.removeAll(keepingCapacity: true)
        }
    }

    /// Nothing of it can go out any more.
    mutating func drop() {
        if waiting.capacity > 0 { waiting = [] }
        start = 0
        if !trailers.isEmpty { trailers = [] }
    }

    private static let keptCapacity = 64 << 10
}
