/// How a client's connection ends that still has something on its way to the client.
struct GracefulClose {
    enum Kind {
        case close
        /// A reset takes along what the client has not taken.
        case reset
    }

    let kind: Kind
    /// Until it is looked again, in milliseconds.
    private var interval = 5
    private var untaken = Int.max
    /// Till when the client may take nothing.
    private var limit = 0

    private static let longestInterval = 100
    private static let patience = 2_000

    init(_ kind: Kind) { self.kind = kind }

    /// - Parameters:
    ///   - count: bytes that the client has not taken yet. Of a client that went away that stays what it was.
    ///   - now: in milliseconds.
    /// - Returns: when to look again; nil where there is nothing to wait for.
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
