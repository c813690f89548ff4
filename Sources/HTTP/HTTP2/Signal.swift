import HTTPCodec

/// The effect of a frame, before it is compared with its stream's state.
enum Signal {
    /// The field block is complete. With `endsStream`, `ended` follows.
    case fields(Int32, endsStream: Bool)
    /// Body bytes in this range of the input.
    case data(Int32, Range<Int>)
    /// The end of the peer's message.
    case ended(Int32)
    /// The stream is closed.
    case closed(Int32, code: UInt32)
    /// The stream could not be opened.
    case refused(StreamID)
    /// All queued bytes of the stream were sent.
    case drained(StreamID)
    /// A PING was acknowledged.
    case pong
}

/// The pending signals. One frame produces few; the capacity is kept.
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
