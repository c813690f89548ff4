import HTTPCodec

/// The streams of a client that outlast their exchanges.
struct StreamRemains {
    /// Streams with a complete response that waits for the client's windows.
    var untaken: [StreamID] = []
    /// Streams with a complete response on which the client still sends. They are reset a while later, because some clients
    /// lose the response if the reset comes with it (RFC 9113 §8.1 forbids that). Ordered by time.
    private var unfinished: [(stream: StreamID, until: Int)] = []

    /// The time for a client to read its response, in milliseconds.
    private static let patience = 100

    /// The idle time after which memory is released, in milliseconds.
    private static let pause = 300
    /// When `takeRest` must be called, if nothing is under way.
    private(set) var restAt = Int.max

    /// When `takeDue` must be called.
    var dueAt: Int { unfinished.first?.until ?? .max }

    /// Something arrived, or an exchange is over.
    mutating func moved(now: Int) { restAt = now + Self.pause }

    /// Whether to release memory that only open messages need. True once after each activity.
    mutating func takeRest(_ now: Int) -> Bool {
        guard now >= restAt else { return false }
        restAt = .max
        return true
    }

    /// The client has taken the whole response.
    mutating func taken(_ stream: StreamID) { untaken.removeAll { $0 == stream } }

    mutating func add(unfinished stream: StreamID, now: Int) { unfinished.append((stream, now + Self.patience)) }

    /// Takes the streams to reset by now.
    mutating func takeDue(_ now: Int) -> [StreamID] {
        let count = unfinished.firstIndex { $0.until > now } ?? unfinished.count
        guard count > 0 else { return [] }
        defer { unfinished.removeFirst(count) }
        return unfinished[..<count].map(\.stream)
    }
}
