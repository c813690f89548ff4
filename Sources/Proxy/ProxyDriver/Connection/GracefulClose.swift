/// The end of a client's connection with bytes still in flight.
struct GracefulClose {
    enum Kind {
        case close
        /// A reset, which destroys bytes that the client has not received.
        case reset
    }

    let kind: Kind
    /// The interval until the next check in milliseconds.
    private var interval = 5
    private var untaken = Int.max
    /// The time until which the client may receive nothing.
    private var limit = 0

    private static let longestInterval = 100
    private static let patience = 2_000

    init(_ kind: Kind) { self.kind = kind }

    /// - Parameters:
    /// - count: the bytes not received yet; constant if the client has vanished.
    /// - now: in milliseconds.
    /// - Returns: the time of the next check; nil if there is nothing to wait for.
    mutating func next(untaken count: Int, now: Int) -> Int? {
        guard count > 0 else { return nil }
        if count < untaken {
            untaken = count
            limit = now + Self.patience
        }
        guard now < limit else { return nil }
        defer { interval = min(interval * 2, Self.longestInterval) }
        return now + interval
    }
}
