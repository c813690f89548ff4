import HTTPCodec

/// What a frame came to, before it is held against what is known of its stream.
enum Signal {
    /// Fields came whole; the block has them. Where the message ends with them, that is told behind.
    case fields(Int32, endsStream: Bool)
    /// These bytes of the input are body.
    case data(Int32, Range<Int>)
    /// The peer's message has ended.
    case ended(Int32)
    /// The stream is no more.
    case closed(Int32, code: UInt32)
    /// No stream could be begun where there was a place for one.
    case refused(StreamID)
    /// Nothing waits on it any more that did.
    case drained(StreamID)
    /// A ping was answered.
    case pong
}

/// Signals that nobody has taken. One frame makes few; the room for them is kept.
struct SignalQueue {
    private var signals: [Signal] = []
    private var next = 0

    var isEmpty: Bool { signals.isEmpty }
    var first: Signal? { next < signals.count ? signals[next] : nil }

    mutating func append(_ signal: Signal) { signals.append(signal) }

    mutating func popFirst() -> Signal? {
        guard next < signals.count else { return nil }
        let signal = signals[next]
        next += 1
        if next == signals.count {
            signals.removeAll(keepingCapacity: true)
            next = 0
        }
        return signal
    }
}
