import HTTPCodec

/// What is left of a client's streams whose exchanges are over.
struct StreamRemains {
    /// Their response is whole, and waits for the client's windows.
    var untaken: [StreamID] = []
    /// Their response is whole, and the client still sends: it is told to stop a while later, for clients are about that take a
    /// reset that comes with the response for the end of it (RFC 9113 §8.1 has them keep the response). In the order of time.
    private var unfinished: [(stream: StreamID, until: Int)] = []

    /// Milliseconds in which a client has read its response.
    private static let patience = 100

    /// Milliseconds without anything under way after which nothing is likely to come soon.
    private static let pause = 300
    /// When `takeRest` has something, where nothing is under way.
    private(set) var restAt = Int.max

    /// When `takeDue` has something.
    var dueAt: Int { unfinished.first?.until ?? .max }

    /// Something came, or an exchange is over.
    mutating func moved(now: Int) { restAt = now + Self.pause }

    /// Whether memory is to be given back that only messages need. Told once for each time that something moved.
    mutating func takeRest(_ now: Int) -> Bool {
        guard now >= restAt else { return false }
        restAt = .max
        return true
    }

    /// The client has taken all of it.
    mutating func taken(_ stream: StreamID) { untaken.removeAll { $0 == stream } }

    mutating func add(unfinished stream: StreamID, now: Int) { unfinished.append((stream, now + Self.patience)) }

    /// Those that are to be told to stop by now.
    mutating func takeDue(_ now: Int) -> [StreamID] {
        let count = unfinished.firstIndex { $0.until > now } ?? unfinished.count
        guard count > 0 else { return [] }
        defer { unfinished.removeFirst(count) }
        return unfinished[..<count].map(\.stream)
    }
}
