/// Counts of a connection with streams, for metrics.
public struct StreamTally: Equatable, Sendable {
    /// Streams that were refused before anything was made of their requests.
    public var refused = 0
    /// Floods that the connection was ended for: at most one.
    public var floods = 0

    public init() {}

    public static func += (tally: inout StreamTally, other: StreamTally) {
        tally.refused += other.refused
        tally.floods += other.floods
    }
}
