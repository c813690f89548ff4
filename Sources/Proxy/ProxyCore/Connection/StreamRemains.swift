import HTTPCodec

/// The streams of a client that outlast their exchanges.
struct StreamRemains: ~Copyable {
    /// Streams with a complete response that waits for the client's windows.
    private var untaken: [StreamID] = []
    /// Streams with a complete response on which the client still sends. They are reset a while later, because some clients
    /// lose the response if the reset comes with it (RFC 9113 §8.1 forbids that). Ordered by time.
    private var unfinished: [(stream: StreamID, until: Int)] = []

    /// The time for a client to read its response, in milliseconds.
    private static let patience = 100

    /// The idle time after which memory is released, in milliseconds.
    private static let pause = 300
    /// When `takeRest` must be called, if nothing is under way.
    private(set) var restAt = Int.max

    /// When `resetDue` must be called.
    var dueAt: Int { unfinished.first?.until ?? .max }

    /// Something arrived, or an exchange is over.
    mutating func moved(now: Int) { restAt = now + Self.pause }

    /// Whether to release memory that only open messages need. True once after each activity.
    mutating func takeRest(_ now: Int) -> Bool {
        guard now >= restAt else { return false }
        restAt = .max
        return true
    }

    /// The exchange on a stream is over.
    /// - Parameter isWhole: its response is complete.
    mutating func add(_ stream: ClientStream, isWhole: Bool, _ codec: borrowing ServerCodec, _ out: inout CommandBuffer)
    {
        if isWhole, codec.waiting(on: stream.id) > 0 { untaken.append(stream.id) }
        if !isWhole {
            codec.reset(stream.id, .failed, &out)
        } else if stream.end == nil {
            unfinished.append((stream.id, out.now + Self.patience))
        }
    }

    /// Whether the client has yet to take a response.
    func areUntaken(_ codec: borrowing ServerCodec) -> Bool {
        for stream in untaken where codec.waiting(on: stream) > 0 { return true }
        return false
    }

    /// Forgets the streams whose responses have gone out.
    /// - Returns: whether a response had waited.
    mutating func noteTaken(_ codec: borrowing ServerCodec) -> Bool {
        guard !untaken.isEmpty else { return false }
        for stream in untaken where codec.waiting(on: stream) == 0 { untaken.removeAll { $0 == stream } }
        return true
    }

    /// Tells the client to stop sending where its response is complete.
    mutating func resetDue(_ codec: borrowing ServerCodec, _ out: inout CommandBuffer) {
        let count = unfinished.firstIndex { $0.until > out.now } ?? unfinished.count
        guard count > 0 else { return }
        for due in unfinished[..<count] { codec.reset(due.stream, .complete, &out) }
        unfinished.removeFirst(count)
    }
}
